"""An experiment: a question, parameters, a computation in parts, a picture.

The parts of an experiment are independent of each other. Each has its own seed, made of the
experiment's name, its own settings and the seed of the whole run, so any part can be computed
alone, anywhere, again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine.noise import SeededSource
from sourdine_lab.look import SLATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sourdine_lab.table import Table

__all__ = ["Experiment", "Part", "Row", "Settings"]

Settings: TypeAlias = "Mapping[str, Any]"
Row: TypeAlias = "dict[str, float | int | str]"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an experiment: its settings, and chance of its own.

    Parameters
    ----------
    experiment
        The name of the experiment.
    settings
        Numbers and words that JSON knows.
    seed
        The seed of the whole run.
    """

    experiment: str
    settings: Settings
    seed: int

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]

    @property
    def key(self) -> int:
        """The part's own seed."""
        text = json.dumps([self.experiment, dict(self.settings), self.seed], sort_keys=True)
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")

    @property
    def rng(self) -> np.random.Generator:
        """Chance for data: the same at every call."""
        return np.random.default_rng(self.key)

    @property
    def source(self) -> SeededSource:
        """Chance for mechanisms: the same at every call."""
        return SeededSource(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A figure and the numbers behind it.

    Parameters
    ----------
    name
        As a person types it, ``canesse-4``.
    ids
        The rows of the sources that it speaks to.
    title
        A line.
    question
        What the figure is to show.
    stated
        What the document states, in words and figures.
    parts
        From the settings, full or quick, to the settings of each part.
    compute
        From a part to rows of numbers.
    draw
        From all rows to a figure.
    full, quick
        The settings of a whole run, and of one that takes seconds.
    figures
        The figures of the documents that it redraws, each by the name ``audibert-18``; its own
        name if left out, none for a figure that no document has.
    stand_in
        What the data are, where the document's own cannot be had.
    alone
        Its parts measure time, so nothing else may run beside them.
    """

    name: str
    ids: tuple[str, ...]
    title: str
    question: str
    stated: str
    parts: Callable[[Settings], Sequence[Settings]]
    compute: Callable[[Part], Iterable[Row]]
    draw: Callable[[Table], Any]
    full: Settings = field(repr=False)
    quick: Settings = field(repr=False)
    figures: tuple[str, ...] | None = None
    stand_in: str | None = None
    alone: bool = False

    @property
    def redraws(self) -> tuple[str, ...]:
        """The figures of the documents that it redraws."""
        return (self.name,) if self.figures is None else self.figures

    def figure(self, table: Table) -> Any:
        """Return the picture, which names the stand-in for the data where there is one."""
        figure = self.draw(table)
        if self.stand_in:
            figure.supxlabel(
                f"Stand-in for the data: {self.stand_in}",
                x=0.01,
                ha="left",
                fontsize=8,
                color=SLATE,
            )
        return figure

    def split(self, *, quick: bool, seed: int) -> list[Part]:
        """Return the parts of a run."""
        settings = self.quick if quick else self.full
        return [Part(self.name, part, seed) for part in self.parts(settings)]
