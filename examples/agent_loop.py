"""An agent that improves a model by what an evaluation says, with and without a guard.

The agent tries 500 changes to a model and keeps what scores better on 2000 labelled rows. In the
first world no change can improve anything: the plain score climbs all the same. In the second one
change in ten helps. The guarded agent climbs on one half of the rows and asks a guard over the
other half, every 25 changes, for one bit: is it better? At the end it reports the guard's final
answer, with an interval that holds whatever the agent did. It gets less far on so few rows, for it
climbs on half of them; but what it reports can be believed.

``your_own_loop`` has the lines to copy: a guard, used directly.

Run ``python examples/agent_loop.py [--seeds 20]`` (needs ``pip install '.[plot]'``). The
picture goes to ``examples/out/agent_loop.png``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.results.charts import BLUE, GREY, INK, PALE, RED, canvas
from sourdine.results.tables import shown
from sourdine_lab.attacks.holdouts import MIXED, NO_GAINS, agent_loop
from sourdine_lab.game.judges import Guarded, Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from sourdine_lab.attacks.holdouts import AgentRun

PICTURE = Path(__file__).parent / "out" / "agent_loop.png"
N, PROPOSALS, EVERY = 2000, 500, 25
WORLDS = {"no change helps": NO_GAINS, "one change in ten helps": MIXED}


def your_own_loop(
    labels: NDArray[np.int64], first: NDArray[np.int64], tries: Iterable[NDArray[np.int64]]
) -> None:
    """Keep what a guard confirms: put the predictions of your models in place of ``tries``."""
    guard = GuardedHoldout(labels, baseline=first, error=0.06)
    for number, predictions in enumerate(tries, start=1):
        verdict = guard.confirm(predictions)
        print(f"model {number}: {'confirmed' if verdict else 'not confirmed'}")
        if guard.remaining.answers == 0:
            break
    print(f"final: {guard.final()}")
    for line in guard.history:
        print(f"  {line}")


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
        ledger = self.guard.ledger
        self.said.append((average, *ledger.interval_after(ledger.spent, average)))
        return verdict


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of one world: of the plain score, of the guard, and what the guard certified."""

    naive: list[AgentRun]
    guarded: list[AgentRun]
    said: NDArray[np.float64]


def played(gains: Any, seeds: int, progress: Callable[[], None]) -> Runs:
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
    grid = Table(title=f"{shown(PROPOSALS, 1)} changes, judged on {shown(N, 1)} rows")
    for head in ("what helps", "judge", "reported", "true", "gap", "worst", "covered"):
        grid.add_column(head, justify="left" if head in {"what helps", "judge"} else "right")
    for world, runs in worlds.items():
        for name, several in (("score", runs.naive), ("guard", runs.guarded)):
            reported, true, gap = (
                np.array([getattr(run, what) for run in several])
                for what in ("reported", "true", "gap")
            )
            held = [run.covers for run in several if run.interval is not None]
            certified = f"{sum(held)} of {len(held)}" if held else "-"
            figures = (reported.mean(), true.mean(), gap.mean(), gap[np.abs(gap).argmax()])
            grid.add_row(world, name, *(f"{figure:.3f}" for figure in figures), certified)
    return grid


def draw(worlds: dict[str, Runs]) -> None:
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
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE)


def panel(axes: Any, runs: Runs) -> None:
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
    """Use a guard directly; then run both agents, print a table and draw a picture."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seeds", type=int, default=20)
    given = reader.parse_args()
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, N)
    right = [rng.random(N) < accuracy for accuracy in (0.70, 0.74, 0.74, 0.79, 0.78)]
    first, *tries = (np.where(r, labels, 1 - labels) for r in right)
    your_own_loop(labels, first, tries)
    with Progress() as bar:
        task = bar.add_task("agents at work", total=len(WORLDS) * given.seeds * 2 * PROPOSALS)
        worlds = {
            world: played(gains, given.seeds, lambda: bar.advance(task))
            for world, gains in WORLDS.items()
        }
    console = Console()
    console.print(table(worlds))
    draw(worlds)
    console.print(f"picture: {PICTURE.relative_to(Path(__file__).parent.parent)}")


if __name__ == "__main__":
    main()
