"""A density under local privacy: the paper's noise and today's methods, as people grow many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.settings import Kind, Setting, integer, integers, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.densities.density import DensityProtocol
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

COLOURS = {
    "paper's noise on coarser levels": ("wavelets", False),
    "wavelets, exact constants": ("wavelets", True),
    "one bit a person": ("one bit", False),
    "square wave": ("square wave", False),
    "Sourdine": ("today", False),
    "no privacy": ("no privacy", True),
}
"""The colour of each method, and whether its line is dashed."""
SHAPES = ("triangle", "two humps")


def _sizes(most: int, count: int) -> list[int]:
    return [int(n) for n in np.geomspace(1_000, most, count).round()]


def _power_of_two(least: int) -> Kind:
    whole = integer(least=least)

    def read(given: Any) -> int:
        found: int = whole.read(given)
        if found & (found - 1):
            raise ValueError
        return found

    return Kind(f"be a power of two, at least {least}", read)


SETTINGS = (
    Setting("epsilon", 1, number(above=0), "privacy loss of each person"),
    Setting("sizes", _sizes(100_000, 5), integers(least=100), "people",
            quick=_sizes(8_000, 3), split=True),
    Setting("runs", 10, integer(least=2), "crowds for each size", quick=3, split=True),
    Setting("shapes", list(SHAPES), words(*SHAPES), "the true densities on [0, 1]", split=True),
    Setting("humps", [0.3, 0.7], numbers(count=2, least=0, most=1), "where the two humps are"),
    Setting("widths", [0.07, 0.1], numbers(count=2, above=0), "their standard deviations"),
    Setting("gamma", 1.665, number(above=0), "the paper's open constant of the threshold; 1.665 is"
            " that of the universal threshold"),
    Setting("cells", 1 << 12, _power_of_two(1 << 12), "cells on which the error is integrated"),
    Setting("methods", list(COLOURS), words(*COLOURS), "the methods that are compared"),
)  # fmt: skip


def heights(
    shape: str,
    cells: int = 1 << 12,
    humps: Sequence[float] = (0.3, 0.7),
    widths: Sequence[float] = (0.07, 0.1),
) -> Floats:
    """Return the density's mean height on each cell of [0, 1]."""
    x = (np.arange(cells) + 0.5) / cells
    if shape == "triangle":
        f = 1 - np.abs(2 * x - 1)
    else:
        one, other = (
            np.exp(-0.5 * ((x - at) / wide) ** 2) / wide
            for at, wide in zip(humps, widths, strict=True)
        )
        f = one + other
    return np.asarray(f / f.mean())


def parts(settings: Settings) -> list[Settings]:
    """One part a shape and a number of people."""
    return [
        {"shape": shape, "n": n, "runs": settings["runs"]}
        for shape in settings["shapes"]
        for n in settings["sizes"]
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the integrated squared error of each method, from reports of every person."""
    n, rng, source = part["n"], part.rng, part.source
    cells, epsilon = part["cells"], part["epsilon"]
    truth = heights(part["shape"], cells, part["humps"], part["widths"])
    crowds = [rng.multinomial(n, truth / cells) for _ in range(part["runs"])]
    made = _methods(part)
    for method in part["methods"]:
        errors = [
            float(((made[method](np.repeat(np.arange(cells), crowd), source) - truth) ** 2).mean())
            for crowd in crowds
        ]
        error, deviation = mean_and_error(errors)
        yield {"shape": part["shape"], "n": n, "method": method, "epsilon": epsilon,
               "runs": part["runs"], "error": error, "deviation": deviation}  # fmt: skip


def _methods(part: Part) -> dict[str, Callable[[NDArray[np.int64], Source], Floats]]:
    """Return, for each method, what makes a density out of people's cells."""
    from sourdine.local.densities.call import Wave, best_protocol
    from sourdine.local.densities.dubois import Dubois, coarse_levels
    from sourdine.local.densities.one_bit import OneBit
    from sourdine.local.densities.wavelets import Wavelet

    n, cells = part["n"], part["cells"]
    unit: dict[str, Any] = {"bounds": (0, 1), "epsilon": part["epsilon"]}
    protocols = {
        "paper's noise on coarser levels": Dubois(
            n=n,
            constants="paper",
            gamma=part["gamma"],
            first=coarse_levels(n, part["epsilon"], Wavelet("db4"))[0],
            **unit,
        ),
        "wavelets, exact constants": Dubois(n=n, **unit),
        "one bit a person": OneBit(n=n, **unit),
        "square wave": Wave(**unit),
        "Sourdine": best_protocol(n=n, **unit),
    }

    def made(protocol: DensityProtocol) -> Callable[[NDArray[np.int64], Source], Floats]:
        return lambda people, source: _private(protocol, people, source, cells)

    return {
        **{name: made(protocol) for name, protocol in protocols.items()},
        "no privacy": lambda people, _: _histogram(people, cells),
    }


def _private(
    protocol: DensityProtocol, people: NDArray[np.int64], source: Source, cells: int
) -> Floats:
    chunks = np.array_split(people, -(-people.size // protocol.chunk))
    tally = sum(protocol.tally(protocol.reports(chunk, source)) for chunk in chunks)
    found = protocol.estimate(tally, people.size)  # type: ignore[arg-type]
    return np.repeat(found.heights, cells // found.mass.size)


def _histogram(people: NDArray[np.int64], cells: int) -> Floats:
    """Return a histogram of about n^(1/3) bars, as anybody would draw it."""
    bars = 1 << round(np.log2(people.size) / 3 + 1)
    counts = np.bincount(people * bars // cells, minlength=bars)
    return np.repeat(counts * bars / people.size, cells // bars)


def draw(table: Table, settings: Settings) -> Any:
    """Draw the errors against the number of people."""
    count = len(settings["shapes"])
    figure, axes = look.panels(count, width=11.5 if count > 1 else 7, height=4.6)
    for one, (shape, rows) in zip(axes, table.by("shape"), strict=True):
        for method, own in rows.by("method"):
            colour, dashed = COLOURS[method]
            look.band(
                one, own["n"], own["error"], uncertainty(own), method=colour, label=method,
                dashed=dashed,
            )  # fmt: skip
        look.titled(one, f"Density: {shape}, ε = {settings['epsilon']:g}", x="people n", y="")
    axes[0].set_ylabel("integrated squared error")
    for one in axes:
        look.logarithmic(one)
    for one in axes:
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="today-density",
    ids=("W2", "W3", "W4"),
    title="A density under local privacy, by today's methods",
    question="How many people does each method need for the same error?",
    stated="an error of order (n alpha^2)^(-2s/(2s+2)) for smoothness s, up to constants that the "
    "paper leaves open",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
