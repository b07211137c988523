"""What a step of the robust min-cut costs, with copies whose changes are cheap: counted and timed.

The graphs have the shape at which a change of such a copy should cost about the square root of
|V|: |E| of order |V|^2, a min-cut of order |V|^(3/4), which hangs on one vertex. Every second
change is one of the attacker, who takes an edge of that vertex away and gives it back if the answer
did not fall; the others change any edge between other vertices.
"""

from __future__ import annotations

from math import sqrt
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import weak_vertex
from sourdine.adaptive.graphs import DynamicMinCut, least_cut
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.errors import ParameterError
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, integers, number, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.adaptive.robust.wrapper import Dynamic
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Edge = tuple[int, int]

NAMES = {
    "robust": "private median of √T copies",
    "one": "one copy",
    "lazy": "exact, only when it must be",
    "anew": "exact at each step",
}
METHODS = {"robust": "protected", "one": "unprotected", "lazy": "today", "anew": "truth"}
ALL_EDGES = 10**9
"""A strength that no cut has: all edges are in use."""


class Stream:
    """A changing graph, half of whose changes are those of an attacker who sees the answers."""

    def __init__(self, part: Part) -> None:
        self.n = part["vertices"]
        self.rng = np.random.default_rng([part.seed, self.n])  # the same for all algorithms
        self.degree = min(round(part["factor"] * self.n**0.75), self.n - 1)
        self.edges: set[Edge] = set(
            weak_vertex(self.n, self.degree, rng=self.rng, density=part["density"])
        )
        self.least = part["least"] * self.degree
        self.cut = self.degree
        self._around = sorted(edge for edge in self.edges if not edge[0])
        self._place, self._out, self._shown = 0, False, float("inf")

    def changes(self, steps: int) -> Iterator[tuple[int, int, bool]]:
        """Yield changes; `answered` is called between them."""
        for step in range(steps):
            edge = self._around[self._place] if step % 2 else self._any()
            present = edge not in self.edges
            (self.edges.add if present else self.edges.discard)(edge)
            if not edge[0]:
                self.cut += 1 if present else -1
                self._out = not present
            yield *edge, present

    def answered(self, answer: float) -> None:
        """Let the attacker decide on the edge that is out."""
        if self._out and answer < self._shown and self.cut > self.least:
            self._shown, self._out = answer, False
            self._around.pop(self._place)
        elif not self._out:
            self._place += 1
            self._shown = min(self._shown, answer) if self._shown < float("inf") else answer
        self._place %= len(self._around)

    def _any(self) -> Edge:
        u, v = sorted((self.rng.choice(self.n - 1, 2, replace=False) + 1).tolist())
        return u, v


def parts(settings: Settings) -> list[Settings]:
    """One part an algorithm and size."""
    return [{"algorithm": a, "vertices": n} for n in settings["sizes"]
            for a in settings["algorithms"]]  # fmt: skip


def compute(part: Part) -> Iterator[Row]:
    """Yield what the steps of one phase cost, and how far the answers were off."""
    stream = Stream(part)
    n, edges, cut = stream.n, len(stream.edges), stream.cut
    _same(least_cut(n, stream.edges)[0], stream)
    steps = max(2, round(part["phase"] * edges / sqrt(n)))
    copies = max(part["sample"], round(sqrt(steps))) if part["algorithm"] == "robust" else 1
    fixed = {"algorithm": part["algorithm"], "vertices": n, "edges": edges, "cut": cut,
             "steps": steps, "copies": copies, "lecture": sqrt(edges) * n**0.25}  # fmt: skip
    run = _anew if part["algorithm"] == "anew" else _kept
    yield {**fixed, **run(part, stream, steps, copies)}


def _kept(part: Part, stream: Stream, steps: int, copies: int) -> Row:
    made: list[DynamicMinCut] = []
    off = 0.75 * part["accuracy"]
    strength = ALL_EDGES if part["algorithm"] == "lazy" else part["strength"]

    def copy(seed: int) -> DynamicMinCut:
        made.append(DynamicMinCut(stream.n, stream.edges, error=off, strength=strength, seed=seed))
        return made[-1]

    begun = process_time()
    victim: Dynamic
    robust = None
    if part["algorithm"] == "robust":
        victim = robust = Robust(
            copy, copies=copies, sample=part["sample"], epsilon0=part["epsilon0"],
            steps=10 * steps, error=part["accuracy"], start=stream.cut, source=part.source,
        )  # fmt: skip
    else:
        victim = copy(int.from_bytes(part.source.bytes(16), "little"))
    making = sum(one.operations for one in made)
    errors = []
    for change in stream.changes(steps):
        victim.update(*change)
        answer = victim.query()
        stream.answered(answer)
        errors.append(abs(answer / stream.cut - 1))
    time = process_time() - begun
    asked = part["sample"] * robust.looks if robust else steps
    changing = sum(one.operations for one in made) - making
    return {
        "making": making / steps, "changing": changing / steps, "asking": asked / steps,
        "operations": (making + changing + asked) / steps,
        "change": changing / steps / copies, "milliseconds": 1e3 * time / steps,
        "computed": sum(one.computations for one in made) / steps / copies,
        "error": float(np.mean(errors[steps // 2 :])), "worst": max(errors),
    }  # fmt: skip


def _anew(part: Part, stream: Stream, steps: int, copies: int) -> Row:
    """Compute the cut of the whole graph at a few of the steps: each costs about the same."""
    del copies
    every = max(1, steps // part["looks"])
    costs, times = [], []
    for step, _ in enumerate(stream.changes(steps)):
        stream.answered(stream.cut)
        if step % every == 0:
            begun = process_time()
            cut, scans = least_cut(stream.n, stream.edges)
            times.append(process_time() - begun)
            costs.append(scans + len(stream.edges))
            _same(cut, stream)
    each = float(np.mean(costs))
    return {
        "making": 0.0, "changing": each, "asking": 0.0, "operations": each, "change": each,
        "milliseconds": 1e3 * float(np.mean(times)), "computed": 1.0, "error": 0.0, "worst": 0.0,
    }  # fmt: skip


def _same(cut: int, stream: Stream) -> None:
    if cut != stream.cut:
        raise ParameterError(
            f"the min-cut must be the {stream.cut} edges of one vertex of {stream.n}, got {cut}. "
            "Use a smaller factor, or a larger density."
        )


def slope(table: Table, column: str) -> float:
    """Return the power of |V| by which a column grows."""
    x, y = np.log(table["vertices"]), np.log(table[column])
    return float(np.polyfit(x, y, 1)[0])


def draw(table: Table, settings: Settings) -> Any:
    """Draw operations and time of a step against |V|, what a change of a copy costs, and errors."""
    figure, axes = look.panels(4, rows=2, width=13.0, height=8.4, sharey=False)
    shown = [name for name in settings["algorithms"] if len(table.where(algorithm=name))]
    for one, column, title, y in (
        (axes[0], "operations", "Operations of a step, on average", "hashes and ends of edges"),
        (axes[1], "milliseconds", "Time of a step, on average", "milliseconds"),
    ):
        powers = []
        for name in shown:
            own = table.where(algorithm=name)
            _line(one, own, column, name, NAMES[name])
            if len(own) > 1:
                powers.append(f"{NAMES[name]}: |V|^{slope(own, column):.2f}")
        if column == "operations":
            own = table.where(algorithm=shown[0])
            look.stated(one, own["vertices"], own["lecture"], "√|E| |V|^¼, no constants")
            if len(own) > 1:
                powers.append(f"√|E| |V|^¼: |V|^{slope(own, 'lecture'):.2f}")
        _finish(one, table, title, y)
        one.set_ylim(None, table[column].max() * 8)
        look.note(one, "\n".join(powers))
    _draw_change(axes[2], table, shown, settings)
    _draw_errors(axes[3], table, shown, settings)
    return figure


def _draw_change(axes: Any, table: Table, shown: list[str], settings: Settings) -> None:
    notes = []
    for name in shown:
        if name != "anew":
            own = table.where(algorithm=name)
            said = "a copy under the median" if name == "robust" else NAMES[name]
            _line(axes, own, "change", name, said)
            if len(own) > 1:
                notes.append(f"{said}: |V|^{slope(own, 'change'):.2f}")
    own = table.where(algorithm=shown[0])
    look.stated(axes, own["vertices"], np.sqrt(own["vertices"]), "√|V|, no constants")
    _finish(axes, table, f"One change of one copy, strength {settings['strength']}", "operations")
    axes.set_ylim(None, table["change"].max() * 2)
    look.note(axes, "\n".join(notes))


def _draw_errors(axes: Any, table: Table, shown: list[str], settings: Settings) -> None:
    for name in shown:
        if name != "anew":
            own = table.where(algorithm=name)
            _line(axes, own, "error", name, NAMES[name])
    ends = [table["vertices"].min(), table["vertices"].max()]
    look.stated(axes, ends, [settings["accuracy"]] * 2, f"allowed: {settings['accuracy']:g}")
    _finish(axes, table, "Error under attack", "relative error, second half of the steps")
    axes.set_yscale("linear")
    axes.set_ylim(0, 1.4 * max(settings["accuracy"], table["error"].max()))
    look.name_lines(axes)


def _line(axes: Any, own: Table, column: str, name: str, label: str) -> None:
    x, y, method = own["vertices"], own[column], METHODS[name]
    look.band(axes, x, y, method=method, label=label, dashed=name == "lazy")
    axes.plot(x, y, "o", color=look.colour(method), markersize=4, label="_measured")


def _finish(axes: Any, table: Table, title: str, y: str) -> None:
    look.logarithmic(axes)
    axes.set_xlim(
        table["vertices"].min(), max(table["vertices"].max(), table["vertices"].min() + 1)
    )
    sizes = np.unique(table["vertices"]).astype(int).tolist()
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xticks([], minor=True)
    look.name_lines(axes)
    look.titled(axes, title, x="vertices, |V|", y=y)


EXPERIMENT = Experiment(
    name="stemmer-mincut-dynamic",
    ids=("S4",),
    title="The robust min-cut with copies that are cheap to change",
    question="Does a step cost about √|E| |V|^¼, where computing anew costs |E|?",
    stated="an oblivious algorithm takes t_init = O(|E|), t_update = O(sqrt|V|), t_query = O(1); "
    "so the robust one takes sqrt|E| |V|^(1/4) a step with T = |E|/sqrt|V|",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("sizes", [64, 96, 144, 216, 324], integers(least=16), "vertices of the graphs",
                quick=[64, 96], split=True),
        Setting("algorithms", list(NAMES), words(*NAMES), "the algorithms that are compared",
                split=True),
        Setting("strength", 10, integer(least=1), "edges that the min-cut of a sample keeps"),
        Setting("factor", 1.6, number(above=0), "the min-cut is this times |V|^(3/4) at first"),
        Setting("density", 0.9, number(above=0, most=1), "chance of each edge between the others"),
        Setting("phase", 1, number(above=0), "the phase has this times |E|/sqrt|V| steps"),
        Setting("sample", 12, integer(least=1), "copies that are asked, s"),
        Setting("epsilon0", 4, number(above=0), "privacy loss of one median"),
        Setting("accuracy", 0.5, number(above=0, most=0.65), "relative error that is allowed"),
        Setting("least", 0.7, number(above=0, most=1),
                "share of its edges at which the attack on the vertex ends"),
        Setting("looks", 10, integer(least=1), "steps at which the cut is computed anew and timed"),
    ),
    figures=(),
    alone=True,
)  # fmt: skip
