"""Two columns crossed: joint shares, and shares within rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer
from sourdine.laws.law import student_quantile
from sourdine.local.categorical.unary import bits_of
from sourdine.local.estimators.means import Estimate, channel, solve
from sourdine.local.table.columns import NO_ANSWER, Choices, Number
from sourdine.local.table.figures import draw_crossed
from sourdine.local.table.part import PaidFlag
from sourdine.mechanisms import RandomizedResponse
from sourdine.results.answer import plain
from sourdine.results.release import Display, read_confidence
from sourdine.results.tables import decimals, label, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from sourdine.grid import Grid
    from sourdine.local.table.part import ColumnPart
    from sourdine.privacy import Guarantee
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]
    Block = tuple[str | None, Floats, Floats, Floats]


# ---- What a report tells of a cell, as numbers that average to the truth -------------------------
#
# For a column cut into parts (its categories, or bins of numbers, and *no answer*) each report
# :math:`y` has a score :math:`a_i(y)` for each part :math:`i`, with
#
# .. math:: E[a_i(Y) \mid x] = 1[x \in i]
#
# exactly for categories, and for bins up to a bias that is known. So the mean score over all people
# is the share of a part, and since columns are randomised independently the mean of a product of
# scores of two columns is the share of people in both parts.
#
# With a paid flag (`PaidFlag`), a report says *none* with probability :math:`q` if there is an
# answer and :math:`p` if there is none; an absent answer that is reported is any one. If
# :math:`g` scores reports of answers and :math:`\bar h` is its mean over all answers alike,
#
# .. math:: a(y) = \frac{g(y)}{p} + b, \quad a(\text{none}) = d, \qquad
#           d = -\frac{q\bar h}{p^2 - q^2}, \quad b = -\frac{qd}{p}
#
# has the mean :math:`h(x)` for an answer, since :math:`bp + dq = 0`, and 0 for none, since
# :math:`q\bar h/p + bq + dp = 0`. *Checked by* ``test_scores_have_the_stated_means``.


BINS = 5
"""A column of numbers is cut into this many bins unless the call says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """A column cut into labelled parts.

    For each cell of the column's tally there is a score of each part, whose mean can be from the
    truth by the bias at most. The mean square of the score of a part is at most ``own`` for people
    in it, and ``other`` for others.
    """

    name: str
    labels: tuple[str, ...]
    scores: Floats
    bias: Floats
    own: Floats
    other: Floats

    @classmethod
    def of_laws(
        cls, name: str, labels: tuple[str, ...], scores: Floats, bias: Floats,
        rows: Floats, truth: Floats,
    ) -> Axis:  # fmt: skip
        """Return an axis with the mean squares of its scores, from the laws of all inputs."""
        square = rows @ scores**2
        own = np.where(truth > 0, square, 0).max(axis=0)
        other = np.where(truth > 0, 0, square).max(axis=0)
        return cls(name=name, labels=labels, scores=scores, bias=bias, own=own, other=other)


def axis(part: ColumnPart, n: int, bins: int | Sequence[float] = BINS) -> Axis:
    """Return a column cut into parts, with scores fitted to ``n`` reports.

    The number of reports decides how much bias is worth less noise. Numbers are cut into ``bins``
    bins of one width, or at these inner edges. On lattices of more than 500 points an edge is sharp
    to a 500th of the bounds.
    """
    column, oracle = part.column, part.answer
    if isinstance(column, Number):
        return _of_bins(part, column, n, bins)
    k = len(column.names)
    if isinstance(column, Choices):  # a person is in the part of each choice that they have
        p, q = oracle.chances
        scores = (bits_of(k) - q) / (p - q)
        yes, no = ((1 - q) / (p - q)) ** 2, (q / (p - q)) ** 2
        own, other = (np.full(k, chance * yes + (1 - chance) * no) for chance in (p, q))
        return Axis(
            name=part.name, labels=column.names, scores=scores, bias=np.zeros(k),
            own=own, other=other,
        )  # fmt: skip
    if not isinstance(oracle, RandomizedResponse):
        raise ParameterTypeError(
            "pairs", "hold columns reported by randomised response",
            f"{type(oracle).__name__} for {part.name!r}", "Declare the column with {method}.",
            method="response",
        )  # fmt: skip
    (p, q), truth = oracle.channel, np.eye(k)
    rows, scores = q + (p - q) * truth, (truth - q) / (p - q)
    return Axis.of_laws(part.name, column.names, scores, np.zeros(k), rows, truth)


def flagged(mechanism: PaidFlag, g: Floats, mean: Floats) -> Floats:
    """Return scores of answers as scores of answers that may be absent; none is the last cell.

    ``g`` has a row for each cell of the answers' tally, and ``mean`` is the mean of what is scored
    over all answers alike.
    """
    p, q = mechanism.flag.channel
    d = -q * mean / (p * p - q * q)
    return np.vstack((g / p - q * d / p, np.atleast_2d(d)))


def _of_bins(part: ColumnPart, column: Number, n: int, bins: int | Sequence[float]) -> Axis:
    grid, report, mechanism = column.grid, part.answer, part.mechanism
    # a bin holds the ticks from an inner edge on
    if isinstance(bins, int):
        count = min(integer(bins, "bins", least=1), grid.size)
        inner = np.ceil(np.arange(1, count) * grid.size / count)
    else:
        wanted = np.asarray(bins, float)
        inner = np.ceil((wanted - float(grid.lower)) / float(grid.step) - 1e-9)
        if not (np.diff(inner, prepend=0, append=grid.last + 1) > 0).all():
            must = "be increasing inner edges within the bounds"
            hint = "Use the number of bins, such as {bins}."
            raise ParameterError("bins", must, "", hint, bins=5)
    c = channel(report)
    where = np.searchsorted(inner, c.nodes, side="right")
    truth = np.eye(len(inner) + 1)[where]
    solved = [solve(c, column, n, steep=0.0)[0] for column in truth.T]
    scores = np.stack([score.g for score in solved], axis=1)
    bias = np.array([float(score.bias) for score in solved])
    edges = [0, *np.ceil(inner).astype(int).tolist(), grid.last + 1]
    labels = tuple(_range(grid, a, b - 1) for a, b in pairwise(edges))
    rows, spread = c.rows, np.diff(np.append(c.first, report.cells))
    if isinstance(mechanism, PaidFlag):
        p, q = mechanism.flag.channel
        none = np.append(np.zeros(len(scores)), 1.0)
        answered = flagged(mechanism, scores, np.diff(edges) / grid.size)
        scores = np.column_stack((answered, (none - q) / (p - q)))
        rows = flagged_rows(mechanism, rows)
        truth = np.eye(truth.shape[1] + 1)[np.append(where, truth.shape[1])]
        bias, labels = np.append(bias * (1 + q / p), 0.0), (*labels, NO_ANSWER)
        spread = np.append(spread, 1)
    made = Axis.of_laws(part.name, labels, scores, bias, rows, truth)
    return replace(made, scores=np.repeat(scores, spread, axis=0))


def _range(grid: Grid, first: int, last: int) -> str:
    low, high = (float(grid.value(t)) for t in (first, last))
    a, b = (shown(round(x) if x == round(x) else x, float(grid.step)) for x in (low, high))
    return a if first == last else f"{a} to {b}"


def flagged_rows(mechanism: PaidFlag, rows: Floats) -> Floats:
    """Return the laws of answers, a row each, with that of an absent answer as the last."""
    p, q = mechanism.flag.channel
    there = np.column_stack((p * rows, np.full(len(rows), q)))
    return np.vstack((there, np.append(q * rows.mean(axis=0), p)))


# ---- Two columns crossed: a table with a row for each part of one, a column for each of the other


MOST_ACROSS = 6
"""Of more parts of the second column, a list is printed: no terminal is as wide as the table."""
FUZZ = 1e-9
"""So near a decimal, an end is that decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed(Estimate):
    """Public facts of a table of two columns: names, the parts of each, and how many reported."""

    head: ClassVar[str]
    each: ClassVar[str]

    names: Sequence[str]
    parts: Sequence[Sequence[str]]
    reports: int

    @property
    @abstractmethod
    def title(self) -> str:
        """What the table is called."""

    @property
    def caveats(self) -> tuple[str, ...]:
        return (self.each,) if self.reports else ("Nobody reported: nothing is known.",)

    @property
    def display(self) -> Display:
        return Display(head=self.head, title=self.title, even=True)

    def labels(self, release: Release) -> dict[str, Sequence[str]]:
        every = zip(*product(*self.parts), strict=True)
        return {name: list(parts) for name, parts in zip(self.names, every, strict=True)}

    def crossed(
        self, blocks: Sequence[Block], total: Block | None = None
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and lines, in per cent: for each row a line of each block.

        A block is the name of its lines, if they have one, and values, lower and upper ends as rows
        and columns; ``total`` stands at the end of the first block's lines. Intervals stand in
        brackets, rounded outwards, with a digit of their width.
        """
        first = f"{self.names[0]} \\ {self.names[1]}, %"
        named = ["share"] if blocks[0][0] else []
        heads = (first, *named, *map(label, self.parts[1]))
        lines: list[tuple[str, ...]] = []
        for i, part in enumerate(self.parts[0]):
            end = _per_cents(total[1:], i) if total else []
            for name, *numbers in blocks:
                named = [name] if name else []
                lines.append((label(part), *named, *_per_cents(numbers, i), *end))
                end = [""] * len(end)
        return (heads if total is None else (*heads, "all")), lines

    def to_dict(self) -> dict[str, Any]:
        public = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"statistic": self.kind, **plain(public)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        return cls(**{name: x for name, x in facts.items() if name != "statistic"})


def _per_cents(numbers: Sequence[Floats], i: int) -> list[str]:
    """Return row i of values and ends with the decimals they deserve: by the narrower intervals."""
    widths = 100 * np.ravel(numbers[2] - numbers[1])
    there = widths[widths > 0]
    places = max(decimals(float(np.quantile(there, 0.25))) - 1, 0) if there.size else 0
    unit, texts = 10.0**places, []
    for value, low, high in zip(*(np.atleast_1d(x[i]) for x in numbers), strict=True):
        ends = floor(100 * low * unit + FUZZ) / unit, ceil(100 * high * unit - FUZZ) / unit
        texts.append("{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(100 * value + 0.0, *ends, d=places))
    return texts


# ---- Shares within a row: of the people in one part of a column, how many are in each of another -
#
# With the scores of `sourdine.local.table.crossed` the share :math:`r` of part :math:`j`
# within part :math:`i` makes the mean of :math:`\phi_r = a_i(y)(b_j(z) - r)` vanish. A candidate is
# possible if that mean does not differ from 0 by more than its noise allows (E. C. Fieller's
# interval for a ratio). With
#
# .. math:: E\phi_r^2 = E a_i^2 b_j^2 - 2r\,E a_i^2 b_j + r^2\,E a_i^2
#
# the variance of :math:`\phi_r` about the people who answered is
# :math:`E\phi_r^2 - f_{ij}(1-r)^2 - (f_i - f_{ij})r^2`, since what a report says of a person is
# right on average, and about the population :math:`E\phi_r^2 - (E\phi_r)^2`. If hardly anybody is
# in the row, everything is possible. *Claim*: intervals cover from 500 reports on. *Checked by*
# ``test_shares_within_a_row_cover``.


TRIED = 1000
"""How many candidates for a share are tried."""


def ratios(drawn: Mapping[str, Any]) -> Floats:
    """Return the shares within the rows, in [0, 1]; one half where a row seems empty."""
    share, row = np.asarray(drawn["estimate"], float), np.asarray(drawn["row"], float)[:, None]
    there = np.broadcast_to(row > 0, share.shape)
    found = np.divide(share, row, out=np.full(share.shape, 0.5), where=there)
    return np.asarray(np.clip(found, 0, 1))


def ratio_ends(drawn: Mapping[str, Any], beta: float, of: str) -> tuple[Floats, Floats]:
    """Return the least and the greatest share within a row that is possible, each on its own."""
    u = np.asarray(drawn["estimate"], float)[..., None]
    n = int(drawn["reports"])
    if n < 2:
        return np.zeros(u.shape[:2]), np.ones(u.shape[:2])
    w, square = (np.asarray(drawn[k], float)[:, None, None] for k in ("row", "square"))
    both, mixed = (np.asarray(drawn[k], float)[..., None] for k in ("both", "mixed"))
    bias, own = np.asarray(drawn["bias"], float)[..., None], np.asarray(drawn["row_bias"], float)
    r = np.linspace(0, 1, TRIED + 1)
    off = u - r * w
    if of == "population":
        known = off**2
    else:
        joint = np.clip(u, 0, 1)
        known = joint * (1 - r) ** 2 + (np.clip(w, joint, 1) - joint) * r**2
    variance = np.maximum(both - 2 * r * mixed + r**2 * square - known, 0)
    half = student_quantile(beta, n - 1) * np.sqrt(variance / n) + bias + r * own[:, None, None]
    beyond = np.abs(off) - half
    possible = beyond <= 0
    possible |= ~possible.any(axis=2, keepdims=True) & (beyond == beyond.min(axis=2, keepdims=True))
    first = possible.argmax(axis=2)
    last = TRIED - possible[..., ::-1].argmax(axis=2)
    return r[np.maximum(first - 1, 0)], r[np.minimum(last + 1, TRIED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinTable(Crossed):
    """Public facts of the shares of one column within the parts of another."""

    kind: ClassVar[str] = "shares within rows"
    head: ClassVar[str] = "share of the row"
    each: ClassVar[str] = (
        "Ratios of estimates, clipped to [0, 1]. Each interval holds individually."
    )

    @property
    def title(self) -> str:
        return f"{self.names[1]} within {self.names[0]}"

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        return ratios(drawn)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        return ratio_ends(release.drawn, beta, of)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        low, high = release.interval(self.display.confidence)
        return self.crossed([(None, np.asarray(release.value), low, high)])

    def plot(self, release: Release, **options: Any) -> Any:
        ends = release.interval(self.display.confidence)
        return draw_crossed(
            self, release, np.asarray(release.value), ends, squares=False, **options
        )

    def __str__(self) -> str:
        return f"{self.title}, {shown(self.reports, 1)} reports"


# ---- How two columns go together, from reports of both -------------------------------------------
#
# Columns of one person are randomised independently, so with the scores of `sourdine.local.table.
# scores` the share of people in part :math:`i` of one column and :math:`j` of the other is
# estimated by the mean of :math:`\phi = a_i(y) b_j(z)`. As a mean of independent people it has the
# variance :math:`(E\phi^2 - (E\phi)^2)/n` about the share of the population. Given who answered,
# :math:`E\phi` is 1 or 0, so the variance about their share is :math:`(E\phi^2 - E\phi)/n`: it is
# estimated from the same products, or from the known laws of the scores if these say more. *Claim*:
# intervals cover from 200 reports on. *Checked by* ``test_pairs_are_unbiased_and_cover``.


def pair(
    first: Axis, second: Axis, tally: NDArray[np.int64], cost: Guarantee, *, within: bool = False
) -> Release:
    """Estimate the share of people in each part of one column and each of another.

    The tally says how many people have each pair of cells of the two columns' tallies. With
    ``within``, shares are of the people in a part of the first column, not of all.
    """
    reports = int(tally.sum())
    n, a, b, of_first = max(reports, 1), first.scores, second.scores, tally.sum(axis=1)
    share, row = a.T @ tally @ b / n, a.T @ of_first / n
    both = np.maximum((a * a).T @ tally @ (b * b) / n, _known(first, second, tally))
    square = (a * a).T @ of_first / n
    drawn = {
        "estimate": share,
        "sample": np.sqrt(np.maximum(both - np.clip(share, 0, 1), 0) / n),
        "population": np.sqrt(np.maximum(both - share**2, 0) / n),
        "bias": np.outer(first.bias, 1 + second.bias) + second.bias,
        "both": both,
        "row_sample": np.sqrt(np.maximum(square - np.clip(row, 0, 1), 0) / n),
        "row_bias": first.bias,
        "row": row,
        "mixed": (a * a).T @ tally @ b / n,
        "square": square,
        "reports": reports,
    }
    kind = WithinTable if within else PairTable
    parts = (first.labels, second.labels)
    return kind(names=(first.name, second.name), parts=parts, reports=reports).release(cost, drawn)


def _known(first: Axis, second: Axis, tally: NDArray[np.int64]) -> Floats:
    r"""Return the mean square of the products by the known laws, at the shares of single columns.

    Of few people hardly anybody draws a pair of rare reports, and the squares seen say too little.
    """
    n = max(int(tally.sum()), 1)
    f, g = (
        np.clip(x.scores.T @ tally.sum(axis=i) / n, 0, 1)[:, None]
        for i, x in ((1, first), (0, second))
    )
    inside = first.own[:, None] * f + first.other[:, None] * (1 - f)
    return np.asarray(inside * (second.own[:, None] * g + second.other[:, None] * (1 - g)).T)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable(Crossed):
    """Public facts of the shares of people in each part of one column and each of another."""

    kind: ClassVar[str] = "pair of columns"
    head: ClassVar[str] = "share"
    each: ClassVar[str] = (
        "Each interval holds individually (normal approximation); shares may be negative."
    )

    @property
    def title(self) -> str:
        return f"{self.names[0]} and {self.names[1]}"

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every share, in [0, 1], each on its own."""
        return self._ends(release, beta, ("estimate", of, "bias"))

    def _ends(
        self, release: Release, beta: float, names: tuple[str, str, str]
    ) -> tuple[Floats, Floats]:
        raw, deviation, bias = (np.asarray(release.drawn[name], float) for name in names)
        if self.reports < 2:
            return np.zeros(raw.shape), np.ones(raw.shape)
        half = student_quantile(beta, self.reports - 1) * deviation + bias
        return np.clip(raw - half, 0, 1), np.clip(raw + half, 0, 1)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table: of each row the shares of all people, and those within the row."""
        if len(self.parts[1]) > MOST_ACROSS:
            return release.columns().cells()
        beta = read_confidence(self.display.confidence)
        whole = ("of all", np.asarray(release.value), *release.interval(self.display.confidence))
        within = ("of the row", ratios(release.drawn), *ratio_ends(release.drawn, beta, "sample"))
        ends = self._ends(release, beta, ("row", "row_sample", "row_bias"))
        return self.crossed([whole, within], ("row", np.asarray(release.drawn["row"]), *ends))

    def plot(self, release: Release, **options: Any) -> Any:
        """Draw the shares of all people as squares, and those within a row beside them."""
        beta, drawn = read_confidence(self.display.confidence), release.drawn
        ends = ratio_ends(drawn, beta, "sample")
        return draw_crossed(self, release, ratios(drawn), ends, squares=True, **options)

    def __str__(self) -> str:
        return f"{self.title} together, {shown(self.reports, 1)} reports"
