"""What the figures of the bounds share: one quantile of U(0, 1), its share of epsilon, sizes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.settings import Setting, integer, integers, number

if TYPE_CHECKING:
    from sourdine_lab.experiment import Part, Settings

__all__ = ["note", "quantile", "settings", "share", "sizes", "spread", "what"]


def settings() -> tuple[Setting, ...]:
    """Return epsilon, the order of the quantile, and how many quantiles share epsilon."""
    return (
        Setting("epsilon", 1, number(above=0), "privacy loss of all quantiles together"),
        Setting("order", 0.5, number(above=0, below=1), "order of the quantile that is shown"),
        Setting("quantiles", 9, integer(least=1), "quantiles that share epsilon"),
    )


def sizes(
    least: int, most: int, count: int, *, quick: tuple[int, int, int], even: bool = False
) -> Setting:
    """Return the setting of the sizes, by default evenly apart on a logarithmic scale."""
    return Setting(
        "sizes", spread(least, most, count, even=even), integers(least=10),
        "records in a data set", quick=spread(*quick, even=even), split=True,
    )  # fmt: skip


def spread(least: int, most: int, count: int, *, even: bool = False) -> list[int]:
    """Return whole numbers, evenly apart on a logarithmic scale.

    Examples
    --------
    >>> spread(100, 1000, 3), spread(100, 1000, 4, even=True)
    ([100, 316, 1000], [100, 216, 464, 1000])
    """
    places = np.geomspace(least, most, count)
    return [2 * round(n / 2) if even else round(n) for n in places]


def share(part: Part) -> Fraction:
    """Return the share of epsilon that one quantile has."""
    return Fraction(str(part["epsilon"])) / int(part["quantiles"])


def quantile(settings: Settings) -> str:
    """Return the quantile in words."""
    return "median" if settings["order"] == 0.5 else f"{settings['order']:g}-quantile"


def what(settings: Settings) -> str:
    """Return what a figure is about, for its title."""
    return f"the {quantile(settings)} of U(0, 1), ε = {settings['epsilon']:g}"


def note(settings: Settings) -> str:
    """Return how epsilon is shared, and how far an answer may lie at most."""
    m, most = settings["quantiles"], max(settings["order"], 1 - settings["order"])
    deciles = "nine deciles" if m == 9 else f"{m} quantiles"
    shared = f"each of {deciles} has ε/{m}" if m > 1 else "all of ε for one quantile"
    return f"{shared};\nno answer is farther than {most:g}"
