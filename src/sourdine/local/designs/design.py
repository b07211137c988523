"""Designs as exact mechanisms, their estimates, and the table of precomputed ones."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, integer, kind, one_of
from sourdine.laws import Law
from sourdine.local.designs.channels import (
    BITS,
    MOST_CATEGORIES,
    MOST_OUTPUTS,
    UNIT,
    fault,
    known,
    matrix,
    nearest,
    read_epsilon,
    rounded,
)
from sourdine.local.designs.solver import ALL_SUBSETS, solve
from sourdine.local.estimators.frequencies import norm_sub
from sourdine.local.estimators.means import TAUS, Channel, Estimate, Score
from sourdine.mechanisms.mechanism import PureReport, Specimen, read_beta, register, settle
from sourdine.noise.source import draw
from sourdine.results.answer import plain
from sourdine.results.release import Display, Release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


# ---- The mechanism -------------------------------------------------------------------------------


Question = str | tuple[tuple[float, ...], ...]


def _categories(x: int) -> int:
    return integer(x, "categories", least=2, most=MOST_CATEGORIES)


@frozen(kw_only=True)
class Design(PureReport):
    r"""A channel for one question: each output is likelier on a subset of the categories.

    The output :math:`o` has the probability :math:`h_o 2^{-40}` for a category of its subset
    :math:`S_o` and :math:`l_o 2^{-40}` for any other, with whole numbers

    .. math:: h_o = \lfloor R\, l_o \rfloor, \qquad
              e^\varepsilon (1 - 2^{-60}) \le R \le e^\varepsilon .

    One more output, the last, has what is left. `design` finds the best subsets and weights.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, from 0.05 to 12.
    categories
        :math:`k`, from 2 to 256.
    question
        What it was made for: ``"distribution"``, ``"shares"``, ``"mean"``, or the rows of a matrix.
    subsets
        The subset of each output but the last: the sum of :math:`2^u` over its categories.
    lows
        :math:`l_o`, the lower weight of each output but the last.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, exactly: every object has passed the comparison of all
    weights as whole numbers, and every column adds up to :math:`2^{40}`. *Checked by*
    ``test_exact_worst_case[category.design]`` and ``test_channels_are_certified``. *Claim*: a draw
    has that law: uniform bits pick a slot of the category's alias table [1]_ and a place in it. 27
    bits or fewer nearly always say on which side of the slot's boundary the place is; the others
    are drawn when they do not. *Checked by* ``test_alias_tables_hold_the_exact_law`` and
    ``test_bits_that_are_alike_are_drawn_further``.

    References
    ----------
    .. [1] M. D. Vose, "A linear algorithm for generating random numbers with a given
       distribution", IEEE Trans. Software Engineering 17(9), 1991.

    Examples
    --------
    >>> coin = Design(epsilon=1, categories=2, question="shares", subsets=(1, 2), lows=(1 << 38,) * 2)
    >>> coin.law(0).pmf([0, 1, 2]).round(3).tolist()
    [0.68, 0.25, 0.07]
    """  # noqa: E501

    epsilon: Fraction = field(converter=read_epsilon)
    categories: int = field(converter=_categories)
    question: Question
    subsets: tuple[int, ...]
    lows: tuple[int, ...]
    weights: Ints = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        hint, k = "Use design(...) to make one.", self.categories
        whole = ("subsets", self.subsets, (1 << k) - 1), ("lows", self.lows, UNIT - 1)
        for name, values, _ in whole:
            if not isinstance(values, (tuple, list)):
                raise ParameterTypeError(name, "be a list of whole numbers", kind(values), hint)
        count = len(self.lows)
        if not 1 <= count < MOST_OUTPUTS or len(self.subsets) != count:
            must = f"be as many as lows, from 1 to {MOST_OUTPUTS - 1}"
            got = f"{len(self.subsets)} subsets and {count} weights"
            raise ParameterError("subsets", must, got, hint)
        for name, values, top in whole:
            for value in values:
                integer(value, name, least=1, most=top)
        weights = matrix(self.subsets, self.lows, self.epsilon, k)
        if wrong := fault(weights, self.epsilon):
            raise ParameterError("lows", f"give {wrong}", f"{count} weights", hint)
        weights.flags.writeable = False
        workload(self.question, k)
        settle(self, weights=weights)

    @property
    def top(self) -> int:
        return self.categories - 1

    @property
    def codes(self) -> int:
        return len(self.weights)

    @property
    def digest(self) -> str:
        """The SHA-256 of `to_dict`: what people answer under."""
        return sha256(dumps(self.to_dict(), separators=(",", ":")).encode()).hexdigest()

    def rows(self) -> Floats:
        """Return the probabilities of all outputs, a row for each category."""
        return np.asarray(self.weights.T / UNIT)

    def value(self, question: object = None) -> float:
        """Return n times the variance of an estimate for evenly spread answers, the mean over rows.

        ``question`` may be another than that of the design.
        """
        asked = workload(self.question if question is None else question, self.categories)
        return value_of(self.rows(), asked)

    def reports(self, codes: Ints, source: Source) -> Ints:
        """Pick a slot of the alias table and one of its two outputs, by 32 bits of each word."""
        tables = _alias_tables(self)
        shift, slots = tables.slots.bit_length() - 1, np.uint32(tables.slots - 1)
        drawn = np.empty(codes.size, np.int64)
        for start in range(0, codes.size, CHUNK):
            part = codes[start : start + CHUNK]
            words = draw(source, part.size, WORD)
            slot = words & slots
            cell = part << shift
            cell |= slot
            packed = tables.packed.take(cell, mode="clip")
            other = packed.astype(np.uint16)
            other *= words >= packed
            other ^= slot.astype(np.uint16)
            drawn[start : start + CHUNK] = other
            for lane in np.flatnonzero(words ^ packed < 1 << HALF).tolist():  # 16 bits are alike
                more = noise.uniform_below(1 << BITS - HALF, source=source)
                at = int(words[lane] >> HALF) << BITS - HALF | more
                first = at < tables.place[cell[lane]]
                drawn[start + lane] = slot[lane] if first else tables.alias[cell[lane]]
        return drawn

    def law(self, x: int) -> Law:
        return Law.finite(np.log(self.weights[:, x].astype(np.float64)))

    def loss(self, x: int, y: NDArray[np.int64]) -> Floats:
        return np.where(self._held(x)[np.asarray(y)], 0.0, 1.0)

    def error(self, beta: Number = 0.05) -> float:
        right = min(int(self.weights[self._held(x), x].sum()) for x in range(self.categories))
        return float(1 - Fraction(right, UNIT) > read_beta(beta))

    def _held(self, x: int) -> NDArray[np.bool_]:
        return np.array([*(bool(s >> x & 1) for s in self.subsets), False])

    def estimate(self, tally: ArrayLike, *, question: object = None, raw: bool = False) -> Release:
        """Estimate the answer from the tally of everybody's reports.

        Parameters
        ----------
        tally
            ``tally(reports)``, of all people.
        question
            Another question than that of the design: it is answered too, if less well.
        raw
            Keep the unbiased linear estimates. By default a distribution function is made
            monotone and shares are projected on the simplex.

        Returns
        -------
        Release
            With intervals, each for itself; ``drawn["raw"]`` holds the unbiased estimates.
        """
        counts = np.asarray(tally)
        shaped = counts.shape == (self.cells,) and counts.dtype.kind in "iu"
        if not shaped or not all(0 <= count <= MOST_REPORTS for count in counts.tolist()):
            must = f"be {self.cells} whole numbers from 0 to 2**53"
            got = f"{counts.dtype} values of shape {counts.shape}"
            raise ParameterError("tally", must, got, "Use tally(reports) of the design.")
        asked = self.question if question is None else question
        if not isinstance(asked, str):
            asked = _plain(workload(asked, self.categories))
        found = DesignEstimate(design=self, question=asked, raw=raw)
        whole = counts.astype(np.int64, copy=False)
        drawn = {"tally": whole, "reports": int(whole.sum()), "raw": found.unbiased(whole)}
        return found.release(self.guarantee, drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return the design as JSON: texts of hexadecimal digits for the subsets."""
        return {
            "statistic": "Design",
            "epsilon": str(self.epsilon),
            "categories": self.categories,
            "question": plain(self.question),
            "subsets": [f"{subset:x}" for subset in self.subsets],
            "lows": list(self.lows),
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Design:
        """Return the design that `to_dict` wrote, checked like any other."""
        try:
            read: dict[str, Any] = {
                "epsilon": fraction(facts["epsilon"]),
                "categories": facts["categories"],
                "question": _read(facts["question"]),
                "subsets": tuple(int(subset, 16) for subset in facts["subsets"]),
                "lows": tuple(facts["lows"]),
            }
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            must, hint = "be what to_dict() returns", "Use Design.to_dict()."
            raise ParameterError("facts", must, kind(facts), hint) from error
        return cls(**read)

    def __str__(self) -> str:
        asked = self.question if isinstance(self.question, str) else f"{len(self.question)} rows"
        size = f"categories={self.categories}, outputs={self.codes}"
        return f"Design({asked}, epsilon={float(self.epsilon):g}, {size})"


CHUNK = 1 << 15
WORD = np.dtype("<u4")
HALF = 16


class AliasTables(NamedTuple):
    """Vose's tables of all categories, one after the other.

    A slot has room for 2**40 units; the weights of a category are scaled by the number of slots,
    which is a power of two, so that they fill all of them exactly. ``place`` units of a slot belong
    to the output of its number, the others to ``alias``.
    """

    slots: int  # the length of a category's table
    place: Ints
    alias: Ints
    packed: NDArray[np.uint32]  # the first 16 of 40 bits of place, and in what the outputs differ


@lru_cache(16)
def _alias_tables(design: Design) -> AliasTables:
    slots = 1 << (design.codes - 1).bit_length()
    own = np.arange(slots)
    place = np.full((design.categories, slots), UNIT, np.int64)
    alias = np.tile(own, (design.categories, 1))
    for u in range(design.categories):
        left = [slots * w for w in design.weights[:, u].tolist()] + [0] * (slots - design.codes)
        small = [i for i, w in enumerate(left) if w < UNIT]
        large = [i for i, w in enumerate(left) if w >= UNIT]
        while small:
            one, other = small.pop(), large[-1]
            place[u, one], alias[u, one] = left[one], other
            left[other] -= UNIT - left[one]
            if left[other] < UNIT:
                small.append(large.pop())
    first = np.minimum(place >> BITS - HALF, (1 << HALF) - 1)  # a full slot has one output
    packed = (first << HALF | (alias ^ own)).astype(np.uint32)
    return AliasTables(slots, place.ravel(), alias.ravel(), packed.ravel())


# ---- Estimates -----------------------------------------------------------------------------------


QUESTIONS = ("distribution", "shares", "mean")
MOST_ROWS = 4096
MOST_REPORTS = 1 << 53
LARGEST = 1e60
"""No number of a question is larger and no row's numbers are nearer than one over this, so that
products of them are floats."""


def workload(question: object, k: int) -> Floats:
    """Return the matrix of a question: a row for each wanted mean, a column for each category.

    Examples
    --------
    >>> workload("distribution", 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    if isinstance(question, str):
        name = one_of(question, "question", *QUESTIONS)
        if name == "distribution":
            return np.tril(np.ones((k, k)))[:-1]
        return np.eye(k) if name == "shares" else np.arange(k, dtype=np.float64)[None]
    try:
        rows = np.array(question, np.float64)
    except (TypeError, ValueError):
        must, got, tries = "be a name or a matrix", kind(question), {"question": "distribution"}
        raise ParameterTypeError("question", must, got, "Use {question}.", **tries) from None
    shaped = rows.ndim == 2 and rows.shape[1] == k and 1 <= len(rows) <= MOST_ROWS
    measured = shaped and bool((np.abs(rows) <= LARGEST).all())  # neither infinite nor NaN
    if not measured or (np.ptp(rows, axis=1) < 1 / LARGEST).any():
        must = f"hold rows of {k} numbers up to {LARGEST:g} that differ by {1 / LARGEST:g} or more"
        got = f"an array of shape {rows.shape}"
        hint = "Use {question}, or a row for each wanted mean."
        raise ParameterError("question", must, got, hint, question="distribution")
    return rows


def value_of(rows: Floats, asked: Floats) -> float:
    """Return n times the variance for each row of a question by the best linear estimate.

    It is for evenly spread answers. ``rows`` are the probabilities of the outputs of any channel, a
    row for each category.
    """
    centred = asked - asked.mean(axis=1, keepdims=True)
    information = (rows / rows.mean(axis=0)) @ rows.T
    noise = np.trace(np.linalg.pinv(information, rcond=1e-12) @ centred.T @ centred)
    return float((noise - (centred**2).sum() / asked.shape[1]) / len(asked))


def _plain(rows: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, rows.tolist()))


def _read(question: Any) -> Question:
    """Return a question that was written as JSON."""
    return question if isinstance(question, str) else tuple(map(tuple, question))


@lru_cache(16)
def _channel(design: Design) -> Channel:
    rows = design.rows()
    eigenvalues, vectors = np.linalg.eigh((rows / rows.mean(axis=0)) @ rows.T)
    return Channel(
        nodes=np.arange(design.categories, dtype=np.float64), rows=rows,
        first=np.arange(design.codes), every=True, eigenvalues=np.maximum(eigenvalues, 0),
        vectors=vectors,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignEstimate(Estimate):
    """Answers to a question from the reports of a design; ``raw`` if the linear ones were kept.

    Notes
    -----
    *Claim*: the raw estimates are unbiased, and intervals cover as they say. *Checked by*
    ``test_scores_are_unbiased`` and ``test_intervals_cover``.
    """

    kind: ClassVar[str] = "answers of a design"

    design: Design
    question: Question
    raw: bool = False

    @property
    def display(self) -> Display:
        return Display(head={"shares": "share", "mean": "mean"}.get(str(self.question), "estimate"))

    @property
    def rows(self) -> Floats:
        return workload(self.question, self.design.categories)

    @property
    def caveats(self) -> tuple[str, ...]:
        if self.raw or self.question not in ("distribution", "shares"):
            return ("Estimates are unbiased; noise may take them out of range.",)
        made = "made monotone" if self.question == "distribution" else "projected on the simplex"
        return (f"Estimates are {made}; intervals are for the unbiased estimates.",)

    def score(self) -> Score:
        c, rows = _channel(self.design), self.rows
        return c.score(c.path(rows.T, TAUS[0]), rows.T, 0.0)

    def unbiased(self, counts: Ints) -> Floats:
        """Return the linear estimates; without reports those of evenly spread answers."""
        if not counts.sum():
            return np.asarray(self.rows.mean(axis=1))
        return np.asarray(self.score().mean(counts.astype(np.float64)))

    def value(self, drawn: Mapping[str, Any]) -> Any:
        found = np.asarray(drawn["raw"], np.float64)
        if self.question == "mean":
            return float(found[0])
        if self.raw or self.question not in ("distribution", "shares"):
            return found
        return norm_sub(found) if self.question == "shares" else np.clip(monotone(found), 0, 1)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        """Return the ends by the normal law of a mean of scores.

        For the people who reported, a report's variance is at most that of the worst category; for
        the population it is that of the scores seen.
        """
        counts = np.asarray(release.drawn["tally"], np.float64)
        rows, n = self.rows, int(counts.sum())
        low, high = rows.min(axis=1), rows.max(axis=1)
        if n:
            score = self.score()
            variance = np.maximum(score.plain(counts), score.least)
            if of == "sample":
                variance = np.minimum(variance, score.most)
            centre, half = score.mean(counts), score.half(variance, n, beta)
            low, high = (np.clip(end, low, high) for end in (centre - half, centre + half))
        return (float(low[0]), float(high[0])) if self.question == "mean" else (low, high)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        if self.question == "mean":
            return {}
        name = {"distribution": "up to", "shares": "category"}.get(str(self.question), "row")
        return {name: range(len(self.rows))}

    def to_dict(self) -> dict[str, Any]:
        facts = {"question": plain(self.question), "raw": self.raw, "design": self.design.to_dict()}
        return {"statistic": self.kind, **facts}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> DesignEstimate:
        design, asked = Design.from_dict(facts["design"]), _read(facts["question"])
        return cls(design=design, question=asked, raw=facts["raw"])

    def __str__(self) -> str:
        return f"{self.kind}, {self.design}"


def monotone(values: ArrayLike) -> Floats:
    """Return the non-decreasing sequence nearest to one, in squared distance.

    Examples
    --------
    >>> monotone([0.1, 0.5, 0.3, 0.9]).tolist()
    [0.1, 0.4, 0.4, 0.9]
    """
    sums: list[tuple[float, int]] = []
    for value in np.asarray(values, np.float64).tolist():
        sums.append((value, 1))
        while len(sums) > 1 and sums[-2][0] * sums[-1][1] > sums[-1][0] * sums[-2][1]:
            (total, held), (more, others) = sums[-2:]
            sums[-2:] = [(total + more, held + others)]
    return np.repeat([total / held for total, held in sums], [held for _, held in sums])


# ---- The call, and the table of designs that need not be computed --------------------------------


LONGEST = 64  # what is suggested where there are too many categories; more take minutes


def design(
    question: object,
    epsilon: Number,
    *,
    categories: int | None = None,
    progress: bool | None = None,
) -> Design:
    r"""Return the best :math:`\varepsilon`-LDP channel for a question, ready to randomise.

    Parameters
    ----------
    question
        What will be estimated from the reports, all rows alike: ``"distribution"``, the shares of
        people at or below each of the first :math:`k - 1` of :math:`k` ordered categories;
        ``"shares"`` of the categories; ``"mean"`` of their codes; or a matrix, with a row for each
        wanted mean and the value of each category in it.
    epsilon
        The privacy loss of one report, from 0.05 to 12.
    categories
        :math:`k`, from 2 to 256; of a matrix, the number of its columns.
    progress
        Show a bar while the channel is computed: True or False; by default on a terminal.

    Returns
    -------
    Design
        Its ``randomise`` takes people's codes from 0 to :math:`k - 1`, its ``tally`` counts their
        reports and its ``estimate`` answers.

    Notes
    -----
    Best means: among all channels with an unbiased linear estimate, the least sum of variances
    over the rows for answers that are spread evenly, up to the gap of the certificate: 1% up to 16
    categories, by ``test_the_table_is_near_the_bound``. Distribution functions of 2 to 16, 20,
    24, 32, 48 and 64 categories are known for epsilon .25, .5, 1, 2, 3 and 4; others are computed:
    less than a second for 10 categories, a few for 16 to 30, half a minute for 100.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> ages = design("distribution", 1, categories=8)
    >>> print(ages)
    Design(distribution, epsilon=1, categories=8, outputs=40)
    >>> reports = ages.randomise([5] * 20_000, source=SeededSource(1))
    >>> ages.estimate(ages.tally(reports)).value.round(1).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    spent = read_epsilon(epsilon)
    if isinstance(question, str):
        one_of(question, "question", *QUESTIONS)
        if categories is None:
            must = "be given with the name of a question"
            raise ParameterError("categories", must, "", "Use {categories}.", categories=16)
        k = integer(categories, "categories", least=2)
    else:
        matrix: Any = question
        try:
            columns = len(matrix[0])
        except (TypeError, LookupError):
            columns = 2  # no matrix: workload refuses it
        k = integer(columns if categories is None else categories, "categories", least=2)
    if k > MOST_CATEGORIES:
        must, hint = f"be at most {MOST_CATEGORIES}", "Use {categories} or fewer wider ones."
        raise ParameterError("categories", must, given(k), hint, categories=LONGEST)
    rows = workload(question, k)
    asked = question if isinstance(question, str) else _plain(rows)
    return _made(asked, spent, k, sys.stderr.isatty() if progress is None else progress)


@lru_cache(32)
def _made(question: Question, epsilon: Fraction, k: int, progress: bool) -> Design:  # noqa: FBT001
    found = known().get((k, epsilon)) if question == "distribution" else None
    if found is None:
        rows, near = workload(question, k), None
        if question == "distribution" and k > ALL_SUBSETS:  # begin with a known one of fewer cells
            coarse, subsets, _ = nearest(k // 2, epsilon)
            cells = (np.arange(k) * coarse // k).tolist()
            near = np.array([[bool(s >> u & 1) for u in cells] for s in subsets])
        with _bar() if progress else nullcontext() as step:
            found = rounded(solve(rows, float(epsilon), near=near, progress=step), epsilon)
    subsets, lows = found
    return Design(epsilon=epsilon, categories=k, question=question, subsets=subsets, lows=lows)


@contextmanager
def _bar() -> Iterator[Callable[[int, float, float], None]]:
    """Give a function to call after each round of the search, which draws a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("finding a design", total=1.0)

        def step(number: int, value: float, bound: float) -> None:
            part = max(0.0, min(1.0, bound / value)) if value > 0 else 0.0
            text = f"round {number + 1}: {value:.4g}, at least {max(bound, 0.0):.4g}"
            bar.update(task, completed=part, description=text)

        yield step


def _specimen(epsilon: Any) -> Design:
    return design("distribution", epsilon, categories=5, progress=False)


register(Specimen("category.design", _specimen, range(5)))
