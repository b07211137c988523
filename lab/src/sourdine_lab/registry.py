"""All experiments: one module each, found by looking into the folder."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine_lab import experiments
from sourdine_lab.concordance import found
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["all_experiments", "chosen", "the_experiment"]


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its name, in the order of the documents and their figures."""
    known = {}
    for module in walk_packages(experiments.__path__, f"{experiments.__name__}."):
        experiment = getattr(import_module(module.name), "EXPERIMENT", None)
        if isinstance(experiment, Experiment):
            known[experiment.name] = experiment
    return dict(sorted(known.items(), key=lambda item: _place(item[0])))


def chosen(words: list[str], *, rows: Collection[str] = ()) -> list[Experiment]:
    """Return the experiments that words name.

    A word is a name (``canesse-4``), the id of a row (``C11``), or what a document calls something
    that an experiment shows (``figure 12``, ``RecExp``). Of ``rows`` it is known that they are
    rows: one of these may be without a figure.
    """
    everything = all_experiments()
    picked: dict[str, Experiment] = {}
    for word in words:
        fits = {
            name: experiment
            for name, experiment in everything.items()
            if word.lower() in (name, *experiment.redraws) or word.upper() in experiment.ids
        }
        if not fits and word.upper() not in rows:
            fits = {name: everything[name] for name in _shown(word)}
        if not fits and word.upper() not in rows:
            known = {name for e in everything.values() for name in (e.name, *e.redraws, *e.ids)}
            by_lower = {name.lower(): name for name in sorted(known)}
            near = [by_lower[n] for n in get_close_matches(word.lower(), by_lower, n=1)]
            hint = f"Run sourdine lab run {near[0]}." if near else "Run sourdine lab list."
            raise ParameterError(
                f"an experiment must be one that 'sourdine lab list' shows, got {word}. {hint}"
            )
        picked |= fits
    return list(picked.values())


def _shown(word: str) -> list[str]:
    """Return the experiments that show what a document calls by that word."""
    try:
        return [name for entry in found(word, in_text=False) for name in entry.figures]
    except ParameterError:
        return []


def the_experiment(name: str) -> Experiment:
    """Return the experiment of that name, or the one that redraws the figure of that name."""
    return all_experiments().get(name.lower()) or chosen([name])[0]


def _place(name: str) -> tuple[int, int, str]:
    document, _, number = name.partition("-")
    order = ("canesse", "audibert", "couchot", "dubois", "stemmer", "today")
    place = order.index(document) if document in order else len(order)
    return place, int(number) if number.isdecimal() else 1000, name
