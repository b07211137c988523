"""A density under local privacy: the paper's wavelets and today's methods, as people grow many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sourdine.local.densities.density import DensityProtocol
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

CELLS = 1 << 12
EPSILON = 1
UNIVERSAL = 1.665
"""The paper leaves gamma open; this is that of the universal threshold."""
COLOURS = {
    "paper's wavelets": ("wavelets", False),
    "wavelets, exact constants": ("wavelets", True),
    "one bit a person": ("one bit", False),
    "square wave": ("square wave", False),
    "Sourdine": ("today", False),
    "no privacy": ("no privacy", True),
}
"""The colour of each method, and whether its line is dashed."""


def heights(shape: str) -> Floats:
    """Return the density's mean height on each cell of [0, 1]."""
    x = (np.arange(CELLS) + 0.5) / CELLS
    if shape == "triangle":
        f = 1 - np.abs(2 * x - 1)
    else:
        f = np.exp(-0.5 * ((x - 0.3) / 0.07) ** 2) / 0.07
        f = f + np.exp(-0.5 * ((x - 0.7) / 0.1) ** 2) / 0.1
    return np.asarray(f / f.mean())


def parts(settings: Settings) -> list[Settings]:
    """One part a shape and a number of people."""
    numbers = np.geomspace(1_000, settings["most"], settings["points"]).round().astype(int)
    return [
        {"shape": shape, "n": int(n), "runs": settings["runs"]}
        for shape in ("triangle", "two humps")
        for n in numbers
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the integrated squared error of each method, from reports of every person."""
    n, rng, source = part["n"], part.rng, part.source
    truth = heights(part["shape"])
    crowds = [rng.multinomial(n, truth / CELLS) for _ in range(part["runs"])]
    for method, estimate in _methods(n).items():
        errors = [
            float(((estimate(np.repeat(np.arange(CELLS), crowd), source) - truth) ** 2).mean())
            for crowd in crowds
        ]
        error, deviation = mean_and_error(errors)
        yield {"shape": part["shape"], "n": n, "method": method, "epsilon": EPSILON,
               "runs": part["runs"], "error": error, "deviation": deviation}  # fmt: skip


def _methods(n: int) -> dict[str, Callable[[NDArray[np.int64], Source], Floats]]:
    """Return, for each method, what makes a density out of people's cells."""
    from sourdine.local.densities.call import best_protocol
    from sourdine.local.densities.dubois import Dubois, coarse_levels
    from sourdine.local.densities.one_bit import OneBit
    from sourdine.local.densities.wavelets import Wavelet

    unit: dict[str, Any] = {"bounds": (0, 1), "epsilon": EPSILON}
    protocols = {
        "paper's wavelets": Dubois(
            n=n,
            constants="paper",
            gamma=UNIVERSAL,
            first=coarse_levels(n, EPSILON, Wavelet("db4"))[0],
            **unit,
        ),
        "wavelets, exact constants": Dubois(n=n, **unit),
        "one bit a person": OneBit(n=n, **unit),
        "square wave": best_protocol(bounds=(0, 1), epsilon=EPSILON, n=n, loss="w1"),
        "Sourdine": best_protocol(bounds=(0, 1), epsilon=EPSILON, n=n),
    }

    def made(protocol: DensityProtocol) -> Callable[[NDArray[np.int64], Source], Floats]:
        return lambda people, source: _private(protocol, people, source)

    return {
        **{name: made(protocol) for name, protocol in protocols.items()},
        "no privacy": lambda people, _: _histogram(people),
    }


def _private(protocol: DensityProtocol, people: NDArray[np.int64], source: Source) -> Floats:
    chunks = np.array_split(people, -(-people.size // protocol.chunk))
    tally = sum(protocol.tally(protocol.reports(chunk, source)) for chunk in chunks)
    found = protocol.estimate(tally, people.size)  # type: ignore[arg-type]
    return np.repeat(found.heights, CELLS // found.mass.size)


def _histogram(people: NDArray[np.int64]) -> Floats:
    """Return a histogram of about n^(1/3) cells, as anybody would draw it."""
    cells = 1 << round(np.log2(people.size) / 3 + 1)
    counts = np.bincount(people * cells // CELLS, minlength=cells)
    return np.repeat(counts * cells / people.size, CELLS // cells)


def draw(table: Table) -> Any:
    """Draw the errors against the number of people."""
    figure, axes = look.panels(2, width=11.5, height=4.6)
    for one, (shape, rows) in zip(axes, table.by("shape"), strict=True):
        for method, own in rows.by("method"):
            colour, dashed = COLOURS[method]
            look.band(
                one, own["n"], own["error"], uncertainty(own), method=colour, label=method,
                dashed=dashed,
            )  # fmt: skip
        look.titled(one, f"Density: {shape}, ε = {EPSILON}", x="people n", y="")
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
    full={"most": 100_000, "points": 5, "runs": 10},
    quick={"most": 8_000, "points": 3, "runs": 3},
    figures=(),
)
