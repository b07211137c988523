"""An agent that improves a model by what an evaluation says, with and without a guard.

The agent tries 500 changes to a model and keeps what scores better on 2000 labelled rows. In the
first world no change can improve anything: the plain score climbs all the same. In the second one
change in ten helps. The guarded agent climbs on one half of the rows and asks a guard over the
other half, every 25 changes, for one bit: is it better? At the end it reports the guard's final
answer, with an interval that holds whatever the agent did. It gets less far on so few rows, for it
climbs on half of them; but what it reports can be believed.

Usage: python examples/agent_loop.py [--seeds 20] [--out examples/out/agent_loop.png]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.attacks.holdouts import MIXED, NO_GAINS, agent_loop
from sourdine.adaptive.game.judges import Guarded, Scored
from sourdine.look.figures import BLUE, GREY, INK, PALE, RED, canvas

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.attacks.holdouts import AgentRun

N, PROPOSALS, EVERY = 2000, 500, 25
WORLDS = {"no change helps": NO_GAINS, "one change in ten helps": MIXED}


class Watched(Guarded):
    """A guard beside which we keep what its final answer would have been at each checkpoint."""

    def __init__(self, labels: NDArray[np.bool_]) -> None:
        super().__init__(labels)
        self.labels = labels
        self.said: list[tuple[float, float, float]] = []

    def confirm(self, new: NDArray[np.bool_], old: NDArray[np.bool_]) -> bool:
        """Ask the guard, and note what it could certify now."""
        verdict = super().confirm(new, old)
        rows = slice(len(self.labels) // 2, None)
        average = float(((new if verdict else old) == self.labels)[rows].mean())
        self.said.append((average, *self.guard.ledger.interval(average)))
        return verdict


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of one world: of the plain score, of the guard, and what the guard certified."""

    naive: list[AgentRun]
    guarded: list[AgentRun]
    said: NDArray[np.float64]


def played(gains: Any, seeds: int, progress: Callable[[], None]) -> Runs:  # noqa: ANN401
    """Run both agents from the same seeds."""
    naive, guarded, said = [], [], []
    for seed in range(seeds):
        judges: list[Watched] = []

        def watched(labels: NDArray[np.bool_], judges: list[Watched] = judges) -> Watched:
            judges.append(Watched(labels))
            return judges[0]

        for runs, judge in ((naive, Scored), (guarded, watched)):
            rng = np.random.default_rng(seed)
            terms = {"n": N, "proposals": PROPOSALS, "every": EVERY, "gains": gains}
            runs.append(agent_loop(judge, rng=rng, **terms, progress=progress))
        said.append(judges[0].said)
    return Runs(naive, guarded, np.array(said))


def table(worlds: dict[str, Runs]) -> Table:
    """Return reported and true accuracies, averaged over the seeds."""
    title = f"{N} rows, {PROPOSALS} changes"
    shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head in ("what helps", "judge", "reported", "true", "gap", "worst", "covered"):
        shown.add_column(
            head, justify="left" if head in {"what helps", "judge"} else "right", no_wrap=True
        )
    for world, runs in worlds.items():
        for name, several in (("score", runs.naive), ("guard", runs.guarded)):
            reported, true, gap = (
                np.array([getattr(run, what) for run in several])
                for what in ("reported", "true", "gap")
            )
            held = [run.covers for run in several if run.interval is not None]
            certified = f"{sum(held)} of {len(held)}" if held else "-"
            figures = (reported.mean(), true.mean(), gap.mean(), gap[np.abs(gap).argmax()])
            shown.add_row(world, name, *(f"{figure:.3f}" for figure in figures), certified)
    return shown


def drawn(worlds: dict[str, Runs], path: Path) -> None:
    """Draw what is reported and what is true, one panel a world."""
    figure, _ = canvas(9.0, 4.0)
    figure.clear()
    panels = figure.subplots(1, len(worlds), sharey=True)
    for axes, (world, runs) in zip(panels, worlds.items(), strict=True):
        panel(axes, runs)
        axes.set_title(world, loc="left", color=INK, fontsize=11)
        axes.set_xlabel("changes tried", color=INK)
    panels[0].set_ylabel("accuracy", color=INK)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5,
        frameon=False, fontsize=8, labelcolor=INK,
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def panel(axes: Any, runs: Runs) -> None:  # noqa: ANN401
    """Draw one world."""
    t = np.arange(1, PROPOSALS + 1)
    checkpoints = np.arange(EVERY, PROPOSALS + 1, EVERY)
    value, lower, upper = runs.said.mean(axis=0).T
    band = "guard: certified"
    axes.fill_between(checkpoints, lower, upper, color=PALE, linewidth=0, label=band)
    axes.plot(t, mean(runs.naive, "heard"), color=RED, label="plain score: reported")
    axes.plot(t, mean(runs.naive, "truth"), color=RED, linestyle=":", label="true")
    axes.plot(checkpoints, value, color=BLUE, label="guard: reported")
    truth = mean(runs.guarded, "truth")[checkpoints - 1]
    axes.plot(checkpoints, truth, color=BLUE, linestyle=":", label="true")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, length=3, width=0.8)


def mean(runs: list[AgentRun], what: str) -> NDArray[np.float64]:
    """Return the average course of several runs."""
    return np.mean([getattr(run, what) for run in runs], axis=0)


def main() -> None:
    """Run, print the table and draw the picture."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seeds", type=int, default=20)
    reader.add_argument("--out", type=Path, default=Path(__file__).parent / "out/agent_loop.png")
    given = reader.parse_args()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("agents at work", total=len(WORLDS) * given.seeds * 2 * PROPOSALS)
        worlds = {
            world: played(gains, given.seeds, lambda: bar.advance(task))
            for world, gains in WORLDS.items()
        }
    Console().print(table(worlds))
    drawn(worlds, given.out)
    print(f"picture: {given.out}")


if __name__ == "__main__":
    main()
