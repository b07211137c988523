"""Two stages: half of the people say where, the others, asked about that place alone, say more."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

FINE, COARSE, WINDOW = 64, 16, 3
"""Bins of the estimate, bins of the first question, and how many of these the second is about."""
SHAPES = {"bump": "a bump of width 1/20 at 0.4", "spread": "Beta(2, 2)"}
WAYS = {
    "once": ("unprotected", f"one question, {FINE} bins"),
    "coarse": ("splitting", f"one question, {COARSE} bins"),
    "twice": ("protected", "two stages"),
}


def parts(settings: Settings) -> list[Settings]:
    """One part a density and a number of people."""
    sizes = np.geomspace(1000, settings["largest"], settings["sizes"])
    common = {"runs": settings["runs"], "epsilon": 1}
    return [{"shape": shape, "n": 2 * round(n / 2), **common} for shape in SHAPES for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the mean integrated squared error of both ways."""
    rng, n, shares = part.rng, part["n"], shares_of(part["shape"])
    for way, estimate in (("once", once), ("coarse", in_coarse_bins), ("twice", twice)):
        errors = [
            FINE * float(((estimate(shares, n, part["epsilon"], rng) - shares) ** 2).sum())
            for _ in range(part["runs"])
        ]
        yield {"shape": part["shape"], "n": n, "way": way, "runs": len(errors),
               "risk": float(np.mean(errors)),
               "error": float(np.std(errors, ddof=1)) / len(errors) ** 0.5}  # fmt: skip


def shares_of(shape: str) -> Floats:
    """Return the shares of the fine bins."""
    x = (np.arange(FINE) + 0.5) / FINE
    heights = np.exp(-(((x - 0.4) / 0.025) ** 2) / 2) if shape == "bump" else x * (1 - x)
    return np.asarray(heights / heights.sum())


def asked(shares: Floats, n: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Return unbiased shares from n people's unary encodings, by their exact law.

    Every bin is reported as a bit: 1 with probability 1/2 by whoever is there, with probability
    1/(e^epsilon + 1) by others. Its variance does not grow with the number of bins.
    """
    there, q = rng.multinomial(n, shares), 1 / (exp(epsilon) + 1)
    ones = rng.binomial(there, 0.5) + rng.binomial(n - there, q)
    return np.asarray((ones / n - q) / (0.5 - q))


def once(shares: Floats, n: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Ask everybody for one of the fine bins: no answer depends on another."""
    return asked(shares, n, epsilon, rng)


def in_coarse_bins(shares: Floats, n: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Ask everybody for one of the coarse bins."""
    width = FINE // COARSE
    coarse = asked(shares.reshape(COARSE, width).sum(axis=1), n, epsilon, rng)
    return np.asarray(np.repeat(coarse / width, width))


def twice(shares: Floats, n: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Ask half of the people for a coarse bin, the others about the place with most of them.

    Each person answers once, at epsilon; the second question depends on the answers of others
    alone, so the channel is sequentially interactive and as private as the first.
    """
    width = FINE // COARSE
    coarse = asked(shares.reshape(COARSE, width).sum(axis=1), n // 2, epsilon, rng)
    first = int(np.argmax(np.convolve(coarse, np.ones(WINDOW), "valid")))
    inside = slice(first * width, (first + WINDOW) * width)
    second = np.append(shares[inside], 1 - shares[inside].sum())
    fine = np.repeat(coarse / width, width)
    fine[inside] = asked(second, n - n // 2, epsilon, rng)[:-1]
    return fine


def draw(table: Table) -> Any:
    """Draw the risk against the number of people, a panel a density."""
    figure, axes = look.panels(2, width=11.0, height=4.4)
    for one, (shape, rows) in zip(axes, table.by("shape"), strict=True):
        for way, (method, name) in WAYS.items():
            own = rows.where(way=way)
            look.band(one, own["n"], own["risk"], own["error"], method=method, label=name)
        look.logarithmic(one)
        look.titled(one, SHAPES[shape], x="people n", y="")
    axes[0].set_ylabel("mean integrated squared error")
    look.note(axes[0], f"ε = 1, {FINE} bins; first of {COARSE}, then {WINDOW} of these", 0.98)
    for one in axes:
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="dubois-stages",
    ids=("W1",),
    title="A question that depends on earlier answers",
    question="What does a sequentially interactive channel gain over one fixed beforehand?",
    stated="person i may answer through a channel that depends on the answers before; the paper's "
    "own mechanism does not, and its rates need none",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"largest": 300_000, "sizes": 8, "runs": 300},
    quick={"largest": 30_000, "sizes": 4, "runs": 60},
    figures=(),
)
