"""``sourdine demo``: a private mean of real wages, and the law behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from sourdine.data import wages
from sourdine.errors import SourdineError
from sourdine.grid import Grid
from sourdine.mechanisms import Laplace

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from sourdine.release import Release

__all__ = ["run"]

GRID = Grid(0, 200_000, step=1)
EPSILONS = (0.01, 0.1, 1)
DRAWS = 100_000
INK, BLUE, ORANGE = "#222222", "#0072B2", "#D55E00"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean from the noisy total of ticks and a public number of records."""

    release: Release
    epsilon: float
    records: int

    def dollars(self, tick_total: int | Fraction) -> float:
        """Return the mean that a total of ticks stands for."""
        return float(GRID.value(0) + tick_total * GRID.spacing / self.records)

    @property
    def value(self) -> float:
        """The released mean."""
        return self.dollars(int(self.release))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the clamped data's mean lies with 95 % certainty."""
        low, high = self.release.interval(0.95)
        return self.dollars(int(low)), self.dollars(int(high))


def run(out: Path) -> None:
    """Release, print the table, draw the picture."""
    console = Console()
    ticks = GRID.ticks(wages())
    total, n = int(ticks.sum()), len(ticks)
    means = [Mean(_mechanism(e).release(total), e, n) for e in EPSILONS]
    truth = means[0].dollars(total)
    console.print(_table(means, truth))
    console.print(
        f"{n:,} wages (Current Population Survey), clamped to 0 to 200,000 dollars. One person's "
        "wage changes the odds of any answer by a factor of e^epsilon at most, so each mean may be "
        "published. The truth is shown only because these data are public."
    )
    picture = out / "mean.png"
    try:
        out.mkdir(parents=True, exist_ok=True)
        _draw(means, truth, total, picture)
    except OSError as error:
        raise SourdineError(f"{picture} could not be written: {error.strerror}.") from None
    console.print(f"Picture: [bold]{picture}[/]")


def _mechanism(epsilon: float) -> Laplace:
    return Laplace(epsilon=epsilon, sensitivity=GRID.last)


def _table(means: list[Mean], truth: float) -> Table:
    table = Table(title="Mean wage, released three times", title_justify="left")
    for name in ("epsilon", "released", "95 % interval", "truth", "off by"):
        table.add_column(name, justify="right", no_wrap=True)
    for mean in means:
        low, high = mean.interval
        off = f"{mean.value - truth:+,.2f}"
        interval = f"{low:,.2f} to {high:,.2f}"
        table.add_row(f"{mean.epsilon:g}", f"{mean.value:,.2f}", interval, f"{truth:,.2f}", off)
    return table


def _draw(means: list[Mean], truth: float, total: int, path: Path) -> None:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
    except ImportError:
        raise SourdineError(
            "a picture needs matplotlib, which is not installed. Type pip install 'sourdine[plot]'."
        ) from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415 - an extra

    style: Any = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 10}
    with mpl.rc_context(style):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        _draw_releases(left, means, truth)
        _draw_law(right, means[-1], total)
        figure.savefig(path, dpi=150)
        plt.close(figure)


def _draw_releases(axes: Axes, means: list[Mean], truth: float) -> None:
    axes.axvline(truth, color=INK, lw=1, ls="--", zorder=0)
    for height, mean in enumerate(means):
        low, high = mean.interval
        axes.plot([low, high], [height, height], color=BLUE, lw=5, alpha=0.35)
        axes.plot(mean.value, height, "o", color=BLUE, ms=7)
    axes.text(truth, -0.45, f" truth {truth:,.2f}", color=INK)
    half = max(high - low for low, high in (m.interval for m in means))
    axes.set_xlim(truth - half, truth + half)
    axes.set_yticks(range(len(means)), [_label(mean) for mean in means])
    axes.set_ylim(-0.5, len(means) - 0.5)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("mean wage, dollars a year")
    axes.set_title("Three releases and their 95 % intervals", loc="left", weight="bold")


def _label(mean: Mean) -> str:
    low, high = mean.interval
    return f"epsilon {mean.epsilon:g}\n{mean.value:,.2f} ± {(high - low) / 2:,.2f}"


def _draw_law(axes: Axes, mean: Mean, total: int) -> None:
    mechanism = _mechanism(mean.epsilon)
    law, draws = mechanism.law(total), mechanism.simulate(total, DRAWS)
    reach = int(6 * mechanism.scale)
    edges = np.linspace(total - reach, total + reach, 122).astype(np.int64)
    middle = _dollars(mean, (edges[1:] + edges[:-1]) // 2, total)
    counts, expected = np.histogram(draws, edges + 1)[0], np.diff(law.cdf(edges)) * DRAWS
    axes.bar(middle, counts, width=middle[1] - middle[0], color=BLUE, alpha=0.35)
    axes.plot(middle, expected, color=ORANGE, lw=1.6)
    axes.text(middle[len(middle) // 2 + 6], expected.max() * 0.8, "the law, exactly", color=ORANGE)
    axes.text(middle[8], expected.max() * 0.32, f"{DRAWS:,} draws", color=BLUE)
    axes.set_xlabel(f"error of the mean at epsilon {mean.epsilon:g}, dollars")
    axes.set_ylabel("draws")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("The law of the release beside its draws", loc="left", weight="bold")


def _dollars(mean: Mean, ticks: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    return np.asarray((ticks - total) * float(GRID.spacing) / mean.records)
