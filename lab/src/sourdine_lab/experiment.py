"""An experiment: a question, parameters, a computation in parts, a picture.

The parts of an experiment are independent of each other. Each has its own seed, made of the
experiment's name, its own settings and the seed of the whole run, so any part can be computed
alone, anywhere, again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine.noise import SeededSource
from sourdine_lab.look import SLATE
from sourdine_lab.settings import changed, values, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sourdine_lab.settings import Setting
    from sourdine_lab.table import Table

__all__ = ["Experiment", "Part", "Row", "Settings", "said"]

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
        Numbers and words that JSON knows: what distinguishes this part from the others.
    seed
        The seed of the whole run.
    shared
        All settings of the run. ``part["epsilon"]`` is the part's own value if it has one, else
        that of the run.
    other
        Those settings of the run that differ from the document's and that the part does not hold
        itself. They change its seed, so a part with the document's settings keeps its own.
    """

    experiment: str
    settings: Settings
    seed: int
    shared: Settings = field(default_factory=dict)
    other: Settings = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.settings[name] if name in self.settings else self.shared[name]

    @property
    def key(self) -> int:
        """The part's own seed."""
        own = [self.experiment, dict(self.settings), self.seed]
        text = json.dumps([*own, dict(self.other)] if self.other else own, sort_keys=True)
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
        From all rows and the settings of the run to a figure.
    settings
        What a person may change: every constant of the computation, the document's by default.
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
    draw: Callable[[Table, Settings], Any]
    settings: tuple[Setting, ...] = field(repr=False)
    figures: tuple[str, ...] | None = None
    stand_in: str | None = None
    alone: bool = False

    @property
    def redraws(self) -> tuple[str, ...]:
        """The figures of the documents that it redraws."""
        return (self.name,) if self.figures is None else self.figures

    def values(self, given: Mapping[str, object] | None = None, *, quick: bool = False) -> Settings:
        """Return all settings of a run: the document's, or the quick ones, but for what is given.

        Raises
        ------
        ParameterError
            Something is given that is not a setting, or not a value of it.
        """
        return values(self.settings, quick=quick) | changed(self.settings, given or {}, self.name)

    def other(self, settings: Settings, *, quick: bool = False) -> dict[str, Any]:
        """Return the settings that are not the document's, nor those of a quick run."""
        usual = (values(self.settings), values(self.settings, quick=quick))
        return {k: v for k, v in settings.items() if all(v != known[k] for known in usual)}

    def figure(self, table: Table, settings: Settings | None = None) -> Any:
        """Return the picture; it names a stand-in for the data, and settings that are not usual."""
        settings = self.values() if settings is None else settings
        figure = self.draw(table, settings)
        notes = [figure.get_supxlabel()] if figure.get_supxlabel() else []
        if self.stand_in:
            notes.append(f"Stand-in for the data: {self.stand_in}")
        if other := self.other(settings, quick=True):
            notes.append(f"Other settings than the document's: {said(other)}")
        if notes:
            width = round(14 * figure.get_figwidth())  # letters of this size in an inch
            text = "\n".join(line for note in notes for line in wrap(note, width))
            figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color=SLATE)
        return figure

    def part(self, *, seed: int = 1, **own: Any) -> Part:
        """Return one part with the document's settings, but for its own."""
        return Part(self.name, own, seed, self.values())

    def split(
        self, settings: Settings | None = None, *, quick: bool = False, seed: int
    ) -> list[Part]:
        """Return the parts of a run."""
        settings = self.values(quick=quick) if settings is None else settings
        differ = {
            one.name: settings[one.name]
            for one in self.settings
            if not one.split and settings[one.name] != one.default
        }
        return [
            Part(
                self.name,
                part,
                seed,
                settings,
                {name: value for name, value in differ.items() if name not in part},
            )
            for part in self.parts(settings)
        ]


def said(settings: Settings) -> str:
    """Return settings in a line, as they are typed.

    Examples
    --------
    >>> said({"epsilon": 0.1, "sizes": [100, 200]})
    'epsilon=0.1, sizes=100,200'
    """
    return ", ".join(f"{name}={written(value)}" for name, value in settings.items())
