"""Two stages: half of the people say where, the others, asked about that place alone, say more."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

SHAPES = ("bump", "spread")
WAYS = {"once": "unprotected", "coarse": "splitting", "twice": "protected"}


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of the estimate, bins of the first question, and how many the second is about."""

    fine: int = 64
    coarse: int = 16
    window: int = 3

    def __post_init__(self) -> None:
        if self.fine % self.coarse or self.window >= self.coarse:
            raise ParameterError(
                f"coarse must divide fine, and window be below it, got fine={self.fine}, "
                f"coarse={self.coarse}, window={self.window}. Use fine=64, coarse=16, window=3."
            )

    @property
    def width(self) -> int:
        """Fine bins in a coarse one."""
        return self.fine // self.coarse


BINS = Bins()


def parts(settings: Settings) -> list[Settings]:
    """One part a density and a number of people."""
    sizes = np.geomspace(settings["smallest"], settings["largest"], settings["points"])
    common = {"runs": settings["runs"], "epsilon": settings["epsilon"]}
    return [
        {"shape": shape, "n": 2 * round(n / 2), **common}
        for shape in settings["densities"]
        for n in sizes
    ]


def _bins(settings: Part | Settings) -> Bins:
    return Bins(settings["fine"], settings["coarse"], settings["window"])


def compute(part: Part) -> Iterator[Row]:
    """Yield the mean integrated squared error of all ways."""
    rng, n, bins = part.rng, part["n"], _bins(part)
    shares = shares_of(part["shape"], bins, part["bump"], part["spread"])
    for way, estimate in (("once", once), ("coarse", in_coarse_bins), ("twice", twice)):
        errors = [
            bins.fine
            * float(((estimate(shares, n, part["epsilon"], rng, bins) - shares) ** 2).sum())
            for _ in range(part["runs"])
        ]
        yield {"shape": part["shape"], "n": n, "way": way, "runs": len(errors),
               "risk": float(np.mean(errors)),
               "error": float(np.std(errors, ddof=1)) / len(errors) ** 0.5}  # fmt: skip


def shares_of(
    shape: str,
    bins: Bins = BINS,
    bump: Sequence[float] = (0.4, 0.025),
    spread: Sequence[float] = (2, 2),
) -> Floats:
    """Return the shares of the fine bins."""
    x, (at, wide), (a, b) = (np.arange(bins.fine) + 0.5) / bins.fine, bump, spread
    if shape == "bump":
        heights = np.exp(-(((x - at) / wide) ** 2) / 2)
    else:
        heights = x ** (a - 1) * (1 - x) ** (b - 1)
    return np.asarray(heights / heights.sum())


def asked(shares: Floats, n: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Return unbiased shares from n people's unary encodings, by their exact law.

    Every bin is reported as a bit: 1 with probability 1/2 by whoever is there, with probability
    1/(e^epsilon + 1) by others. Its variance does not grow with the number of bins.
    """
    there, q = rng.multinomial(n, shares), 1 / (exp(epsilon) + 1)
    ones = rng.binomial(there, 0.5) + rng.binomial(n - there, q)
    return np.asarray((ones / n - q) / (0.5 - q))


def once(
    shares: Floats, n: int, epsilon: float, rng: np.random.Generator, bins: Bins = BINS
) -> Floats:
    """Ask everybody for one of the fine bins: no answer depends on another."""
    del bins
    return asked(shares, n, epsilon, rng)


def in_coarse_bins(
    shares: Floats, n: int, epsilon: float, rng: np.random.Generator, bins: Bins = BINS
) -> Floats:
    """Ask everybody for one of the coarse bins."""
    width = bins.width
    coarse = asked(shares.reshape(bins.coarse, width).sum(axis=1), n, epsilon, rng)
    return np.asarray(np.repeat(coarse / width, width))


def twice(
    shares: Floats, n: int, epsilon: float, rng: np.random.Generator, bins: Bins = BINS
) -> Floats:
    """Ask half of the people for a coarse bin, the others about the place with most of them.

    Each person answers once, at epsilon; the second question depends on the answers of others
    alone, so the channel is sequentially interactive and as private as the first.
    """
    width = bins.width
    coarse = asked(shares.reshape(bins.coarse, width).sum(axis=1), n // 2, epsilon, rng)
    first = int(np.argmax(np.convolve(coarse, np.ones(bins.window), "valid")))
    inside = slice(first * width, (first + bins.window) * width)
    second = np.append(shares[inside], 1 - shares[inside].sum())
    fine = np.repeat(coarse / width, width)
    fine[inside] = asked(second, n - n // 2, epsilon, rng)[:-1]
    return fine


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risk against the number of people, a panel a density."""
    bins, (at, wide) = _bins(settings), settings["bump"]
    a, b = settings["spread"]
    titles = {
        "bump": f"a bump of width {2 * wide:g} at {at:g}", "spread": f"Beta({a:g}, {b:g})",
    }  # fmt: skip
    names = {
        "once": f"one question, {bins.fine} bins", "coarse": f"one question, {bins.coarse} bins",
        "twice": "two stages",
    }  # fmt: skip
    figure, axes = look.panels(len(settings["densities"]), width=11.0, height=4.4)
    for one, (shape, rows) in zip(axes, table.by("shape"), strict=True):
        for way, method in WAYS.items():
            own = rows.where(way=way)
            look.band(one, own["n"], own["risk"], own["error"], method=method, label=names[way])
        look.logarithmic(one)
        look.titled(one, titles[shape], x="people n", y="")
    axes[0].set_ylabel("mean integrated squared error")
    said = f"{bins.fine} bins; first of {bins.coarse}, then {bins.window} of these"
    look.note(axes[0], f"ε = {settings['epsilon']:g}, {said}", 0.02, 0.07)
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
    settings=(
        Setting("epsilon", 1, number(above=0), "the paper's alpha, what each person spends",
                split=True),
        Setting("densities", list(SHAPES), words(*SHAPES), "the densities", split=True),
        Setting("smallest", 1000, integer(least=10), "the fewest people", split=True),
        Setting("largest", 300_000, integer(least=100), "the most people", quick=30_000,
                split=True),
        Setting("points", 8, integer(least=2), "numbers of people", quick=4, split=True),
        Setting("runs", 300, integer(least=2), "estimates for each", quick=60, split=True),
        Setting("fine", 64, integer(least=4), "bins of the estimate"),
        Setting("coarse", 16, integer(least=2), "bins of the first question"),
        Setting("window", 3, integer(least=1), "how many of these the second question is about"),
        Setting("bump", [0.4, 0.025], numbers(count=2), "the bump: its place, its deviation"),
        Setting("spread", [2, 2], numbers(count=2, above=0), "the parameters of the beta law"),
    ),
    figures=(),
)  # fmt: skip
