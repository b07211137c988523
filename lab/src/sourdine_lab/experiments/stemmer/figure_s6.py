"""Samples with dependencies: what nobody can answer, what to declare, where splitting fails."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.ledger.dependence import Blocks, Iid, Markov
from sourdine.noise import SeededSource
from sourdine_lab import look
from sourdine_lab.answering import Empirical, Splitting, widths
from sourdine_lab.experiment import Experiment
from sourdine_lab.game import (
    AdaptiveGame,
    Decoding,
    Overfitting,
    splitting_on_encoded,
    splitting_on_repeated,
)
from sourdine_lab.samples import blocks, failures, iid, lazy_walk, least_failure
from sourdine_lab.settings import Setting, integer, integers, number, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.exact import Number
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

Rng = np.random.Generator
SAMPLES = ("independent", "lazy walk", "tenfold rows")
ANSWERS: dict[str, Mapping[Number, Number]] = {
    "always 1/4": {Fraction(1, 4): 1},
    "the sample's mean, 1/2": {Fraction(1, 2): 1},
    "a coin: 1/4 or 3/4": {Fraction(1, 4): Fraction(1, 2), Fraction(3, 4): Fraction(1, 2)},
}
"""What mechanisms say to a sample of halves, with which probabilities."""


def parts(settings: Settings) -> list[Settings]:
    """One part for each panel, and one a number of questions."""
    games = [
        {"panel": sample, "n": settings["n"], "k": k, "runs": settings["runs"]}
        for sample in settings["samples"]
        for k in settings["questions"]
    ]
    split = [
        {"panel": "repeated", "n": settings["rows"], "k": k, "runs": settings["runs"]}
        for k in settings["times"]
    ]
    coded = [{"panel": "encoded", "n": n, "runs": settings["runs"]} for n in settings["lengths"]]
    return [{"panel": "impossible", "alphas": settings["alphas"]}, *coded, *split, *games]


def compute(part: Part) -> Iterator[Row]:
    """Yield the rows of one panel."""
    panel = part["panel"]
    if panel == "impossible":
        yield from _impossible(part["alphas"])
    elif panel == "encoded":
        width = widths.splitting(part["n"], 2, part["beta"])
        yield from _row(part, "dependent", _errors(part, _encoded), width)
        yield from _row(part, "independent", _errors(part, _not_encoded), width)
    elif panel == "repeated":
        width = widths.splitting(part["n"], part["k"], part["beta"])
        yield from _row(part, "dependent", _errors(part, _repeated), width)
        yield from _row(part, "independent", _errors(part, _not_repeated), width)
    else:
        declared = _declared(part)
        nats = log(part["k"] / part["beta"]) + (part["k"] - 1) * log(2)
        yield from _row(part, panel, _errors(part, overfitted), declared.width(part["n"], nats),
                        Iid().width(part["n"], nats))  # fmt: skip


def _even(codes: int) -> NDArray[np.float64]:
    return np.full(codes, 1 / codes)


def _drawn(part: Part, rng: Rng) -> NDArray[np.int64]:
    """Return the rows of a panel."""
    law, n = _even(part["codes"]), part["n"]
    if part["panel"] == "independent":
        return iid(law, n, rng=rng)
    if part["panel"] == "lazy walk":
        return lazy_walk(law, n, rng=rng, stay=part["stay"])
    return blocks(law, n, size=part["copies"], rng=rng)


def _declared(part: Part) -> Dependence:
    """Return how the rows of a panel depend on each other."""
    if part["panel"] == "independent":
        return Iid()
    return Markov(part["stay"]) if part["panel"] == "lazy walk" else Blocks(part["copies"])


def _impossible(alphas: int) -> Iterator[Row]:
    for i in range(alphas):
        alpha = Fraction(i, 2 * (alphas - 1))
        found = {name: float(max(failures(law, alpha))) for name, law in ANSWERS.items()}
        yield {"panel": "impossible", "alpha": float(alpha), "least": float(least_failure(alpha)),
               **found}  # fmt: skip


def _errors(part: Part, play: Callable[[Part, Rng], float]) -> NDArray[np.float64]:
    rng = part.rng
    return np.array([play(part, rng) for _ in range(part["runs"])])


def _row(
    part: Part, rows: str, errors: NDArray[np.float64], width: float, plain: float = 0.0
) -> Iterator[Row]:
    runs = len(errors)
    yield {"panel": part["panel"], "rows": rows, "n": part["n"], "k": part.settings.get("k", 2),
           "error": float(errors.mean()), "deviation": float(errors.std(ddof=1)) / runs**0.5,
           "width": width, "iid_width": plain, "missed": float((errors > width).mean()),
           "iid_missed": float((errors > plain).mean()), "runs": runs}  # fmt: skip


def overfitted(part: Part, rng: Rng) -> float:
    """Return the error of the last query, after k - 1 answers of one bit led to it."""
    sample, law = _drawn(part, rng), _even(part["codes"])
    analyst = Overfitting(law, part["k"], rng=rng, one_bit=True)
    return float(AdaptiveGame(analyst, sample, Empirical).play()[-1:].errors(law)[0])


def _encoded(part: Part, rng: Rng) -> float:
    return splitting_on_encoded(part["n"], rng=rng).error


def _not_encoded(part: Part, rng: Rng) -> float:
    """Return the error of the same analyst on rows that hold bits of their own."""
    n = part["n"]
    rows = rng.integers(1 << (n + 1), size=n)
    game = AdaptiveGame(Decoding(n), rows, _split(2, rng), rounds=2)
    return float(game.play()[-1].answer - 0.5**n)


def _repeated(part: Part, rng: Rng) -> float:
    return splitting_on_repeated(_even(part["kinds"]), part["n"], times=part["k"], rng=rng).error


def _not_repeated(part: Part, rng: Rng) -> float:
    law = _even(part["kinds"])
    rows, analyst = iid(law, part["n"], rng=rng), Overfitting(law, part["k"], rng=rng)
    play = AdaptiveGame(analyst, rows, _split(part["k"], rng), rounds=part["k"]).play()
    return float(play[-1:].errors(law)[0])


def _split(rounds: int, rng: Rng) -> Callable[[NDArray[Any]], Splitting]:
    source = SeededSource(int(rng.integers(1 << 62)))
    return lambda sample: Splitting(sample, rounds, source=source)


def draw(table: Table, settings: Settings) -> Any:
    """Draw what is impossible, both failures of splitting, and three kinds of rows."""
    figure, axes = look.panels(6, rows=2, width=15.0, height=8.4, sharey=False)
    _draw_impossible(axes[0], table.where(panel="impossible"))
    _draw_split(axes[1], table.where(panel="encoded"), "n", "rows of the sample")
    axes[1].set_title("Splitting, rows that encode the sample", loc="left", fontsize=11)
    _draw_split(axes[2], table.where(panel="repeated"), "k", "questions, copies of the block")
    axes[2].set_title("Splitting, one block repeated", loc="left", fontsize=11)
    samples = settings["samples"]
    top = 1.15 * max(table.where(panel=sample)["width"].max() for sample in samples)
    for one, sample in zip(axes[3:], samples, strict=False):
        _draw_declared(one, table.where(panel=sample), _name(sample, settings), top)
    for one in axes[3 + len(samples) :]:
        one.set_axis_off()
    return figure


def _name(sample: str, settings: Settings) -> str:
    if sample == "tenfold rows" and settings["copies"] != 10:
        return f"rows {settings['copies']} times each"
    if sample == "lazy walk" and settings["stay"] != 0.5:
        return f"walk that stays with {settings['stay']:g}"
    return sample


def _draw_impossible(axes: Any, table: Table) -> None:
    alpha = table["alpha"]
    for name, method in zip(ANSWERS, ("unprotected", "no privacy", "protected"), strict=True):
        dashed = method == "no privacy"
        look.band(axes, alpha, table[name], method=method, label=name, dashed=dashed)
    look.stated(axes, alpha, table["least"], "least of all mechanisms")
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 0.75)
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles, names, frameon=False, fontsize=9, loc="upper right")
    look.titled(axes, r"P₀ and P₁: nobody answers both within $\alpha < 1/4$",
                x=r"accuracy asked for, $\alpha$", y="chance to fail on the worse law")  # fmt: skip


def _draw_split(axes: Any, table: Table, x: str, words: str) -> None:
    for rows, method in (("dependent", "unprotected"), ("independent", "protected")):
        own = table.where(rows=rows)
        look.band(axes, own[x], own["error"], own["deviation"], method=method, label=f"{rows} rows")
    look.stated(axes, own[x], own["width"], "promised")
    axes.set_ylim(-0.05, 1.05)
    axes.set_xlim(0, table[x].max())
    look.name_lines(axes)
    look.titled(axes, "", x=words, y="error of the last answer")


def _draw_declared(axes: Any, table: Table, sample: str, top: float) -> None:
    k, last = table["k"], table.rows[-1]
    look.band(axes, k, table["error"], table["deviation"], method="truth", label="error")
    if sample != "independent":
        look.band(axes, k, table["iid_width"], method="unprotected", label="declared iid")
    look.band(axes, k, table["width"], method="protected", label="as it is")
    axes.set_xlim(0, k.max())
    axes.set_ylim(0, top)
    look.name_lines(axes)
    beyond = [round(float(last[name]) * float(last["runs"])) for name in ("iid_missed", "missed")]
    look.note(
        axes,
        f"beyond the half-width, of {last['runs']} runs at k = {last['k']}:\n"
        f"{beyond[0]} if declared iid, {beyond[1]} as it is",
    )
    look.titled(axes, f"Overfitting, {sample}, n = {last['n']}",
                x="questions, one bit each", y="error of the last answer")  # fmt: skip


EXPERIMENT = Experiment(
    name="stemmer-s6",
    ids=("S5", "S6", "S7"),
    title="Samples with dependencies",
    question="What becomes of adaptive questions when rows depend on each other?",
    stated="no mechanism answers on all laws (P0, P1), every query is concentrated on the lazy "
    "walk, and sample splitting may fail in two ways",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("n", 10_000, integer(least=100), "rows of a sample that is overfitted", split=True),
        Setting("questions", [10, 50, 100, 200, 350, 500], integers(least=2),
                "numbers of questions to it, of one bit each", quick=[10, 50, 100, 200, 350],
                split=True),
        Setting("samples", list(SAMPLES), words(*SAMPLES), "the samples that are overfitted",
                split=True),
        Setting("stay", 0.5, number(least=0, below=1), "chance that the lazy walk stays"),
        Setting("copies", 10, integer(least=1), "how often each row comes"),
        Setting("codes", 4096, integer(least=2), "kinds of rows of these samples, equally likely"),
        Setting("beta", 0.05, number(above=0, below=1), "chance that some answer is farther off"),
        Setting("rows", 40_000, integer(least=100), "rows of a sample that is split, one block "
                "repeated", quick=20_000, split=True),
        Setting("times", [10, 50, 100, 200, 400], integers(least=2),
                "copies of the block, and questions to it", quick=[10, 50, 200], split=True),
        Setting("kinds", 1000, integer(least=2), "kinds of rows of these samples, equally likely"),
        Setting("lengths", [4, 8, 12, 20, 30, 40], integers(least=2, most=60),
                "rows of a sample that its rows encode", quick=[4, 12, 40], split=True),
        Setting("alphas", 401, integer(least=3), "accuracies asked for, from 0 to 1/2",
                split=True),
        Setting("runs", 50, integer(least=2), "games for each point", quick=15, split=True),
    ),
)  # fmt: skip
