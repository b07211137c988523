"""`Robust`: copies of a dynamic algorithm behind a private median or switching."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, isfinite, log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.adaptive.robust.proof import ENDLESS, Proof, certified_steps, stray
from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, integer, kind, number, one_of, positive
from sourdine.mechanisms import Exponential
from sourdine.noise import SYSTEM, Source, uniform_below
from sourdine.results.release import beta_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number

    Values = NDArray[np.float64]
    Scores = NDArray[np.int64]


# ---- The private median of the copies' values, on a public window of a geometric grid ------------
#
# Cells have the ratio :math:`r = 1 + \alpha/4`: cell 0 holds all below ``least`` and is answered as
# 0, cell :math:`j \ge 1` holds :math:`[r^{j-1}, r^j)` times ``least`` and is answered by its
# geometric middle. Candidates are the :math:`2h + 1` cells around the last one chosen; values
# beyond them count in the first or the last. These two have no outer edge and are no answer (but
# for cell 0, which has one): where one of them is chosen, the window moves to it and the values are
# looked at again. With :math:`L` values below a cell, :math:`H` below its upper edge and :math:`s`
# in all, its score is
#
# .. math:: -\max\bigl(0,\ L - \tfrac{s}{2},\ \tfrac{s}{2} - H\bigr),
#
# how far :math:`s/2` is from the ranks that the cell holds. A score by the edge alone,
# :math:`-|H - s/2|`, would not tell the cells apart when all values share one. *Checked by*
# ``test_values_that_agree_are_found``.
#
# *Claim.* One value changes the score by 1 at most, so a choice by the exponential mechanism is
# :math:`\varepsilon_0`-private. *Checked by* ``test_one_copy_moves_a_score_by_one``.
#
# *Claim.* Let :math:`W` values be wrong, the others within :math:`3\alpha/4` of the truth :math:`f`
# and not below ``least``, or else all 0 with :math:`f`. Wherever the window is, a cell of score
# above :math:`-(s/2 - W)` that is an answer is within :math:`\alpha` of :math:`f`. *Proof.* Such a
# cell has both its edges, so that :math:`L` and :math:`H` count what truly lies below them.
# :math:`H > W`, so a right value lies below the upper edge; :math:`s - L > W`, so one lies at or
# above the lower. For cell 0 the first says that :math:`f = 0`. Else the middle is a factor
# :math:`\sqrt{r} \le 1 + \alpha/8` from either edge, and
# :math:`(1 + 3\alpha/4)(1 + \alpha/8) \le 1 + \alpha`,
# :math:`(1 - 3\alpha/4)/(1 + \alpha/8) \ge 1 - \alpha` for :math:`\alpha \le 1`. ∎ *Checked by*
# ``test_a_good_score_is_a_right_answer``.
#
# *Claim.* Let :math:`r^{h-1} \ge (1 + 3\alpha/4)/(1 - 3\alpha/4)`. While the truth stays and only
# cells of such scores are chosen, the window moves one way, by :math:`h` cells or more, to an
# answer. *Proof.* Let the last cell be chosen. It has a right value at or above its lower edge, so
# all right values lie at or above :math:`r^{1-h}` times that edge, above the first cell of the next
# window, which then is not chosen. Likewise downwards. ∎ *Checked by*
# ``test_a_leap_is_followed_one_way``.


LARGEST = 1e300


class PrivateMedian:
    r"""Looks at private values, one after the other, each near their median.

    A look may spend ``epsilon0`` of the values it is given. The ratio of the cells follows from the
    ``error``, :math:`\alpha`, and there are ``window`` of them, :math:`h`, on either side of the
    last one chosen, first around ``start``. Values below ``least`` count as 0, as negative ones and
    NaN do; above 1e300 they count as that.
    """

    __slots__ = ("_cell", "_least", "_mechanism", "_ratio", "_window")

    def __init__(
        self, *, epsilon0: Fraction | float, error: float, window: int, least: float, start: float
    ) -> None:
        self._mechanism = Exponential(
            epsilon=epsilon0, candidates=2 * window + 1, sensitivity=2, relation="substitute"
        )
        self._ratio = log(1 + error / 4)
        self._window = window
        self._least = least
        self._cell = 0 if start < least else 1 + floor(log(start / least) / self._ratio)

    @property
    def first(self) -> int:
        """The first cell of the window; public, for cells that were released alone move it."""
        return max(0, self._cell - self._window)

    def middle(self, cell: int) -> float:
        """Return the answer that a cell stands for."""
        if not cell:
            return 0.0
        return exp(min(log(self._least) + self._ratio * (cell - 0.5), log(LARGEST)))

    def answer(self, place: int) -> float | None:
        """Return what the window's cell at a place is answered as; None if it lacks an edge."""
        edgeless = place == 2 * self._window or (place == 0 and self.first > 0)
        return None if edgeless else self.middle(self.first + place)

    def scores(self, values: Values) -> Scores:
        """Return the doubled scores of the window's cells: whole numbers, of sensitivity 2."""
        seen = np.minimum(np.nan_to_num(values, nan=0.0, neginf=0.0), LARGEST)
        logs = np.log(np.maximum(seen, self._least)) - log(self._least)
        cells = 1 + np.floor(logs / self._ratio)
        cells[seen < self._least] = 0
        places = np.clip(cells - self.first, 0, 2 * self._window).astype(np.int64)
        held = np.bincount(places, minlength=2 * self._window + 1)
        below_upper = held.cumsum()
        below = below_upper - held
        s = len(values)
        off = np.maximum(2 * below - s, s - 2 * below_upper)
        return np.asarray(-np.maximum(0, off), np.int64)

    def look(self, values: Values, source: Source) -> float | None:
        """Choose a cell, move the window to it, and return its answer, if it is one."""
        place = int(self._mechanism.release(self.scores(values), source=source).value)
        answer = self.answer(place)
        self._cell = self.first + place
        return answer


# ---- Sketch switching: show one copy's answer until the next copy disagrees ----------------------
#
# *Theorem* (Ben-Eliezer, Jayaram, Woodruff, Yogev 2020). Let each copy be within :math:`\alpha/4`
# of the truth at every step of a stream fixed in advance, but for a chance :math:`p`. Then all
# answers are within :math:`\alpha` for as long as copies last, but for :math:`k p`. *Proof.* While
# an answer stands, the adversary learns nothing but that it stands: what it does next is fixed by
# the copies that were shown, so the stream up to the next change is fixed for the active copy.
# Shown :math:`z` and active :math:`y` are within a factor :math:`1 + \alpha/2`, and
# :math:`(1 + \alpha/4)(1 + \alpha/2) \le 1 + \alpha`,
# :math:`(1 - \alpha/4)/(1 + \alpha/2) \ge 1 - \alpha` for :math:`\alpha \le 1`. A copy whose value
# was shown is never asked again. ∎ *Checked by* ``test_switching_stays_right_while_copies_last``.


class Switching:
    """The answer on show, and whether a value has left it.

    The answer stands while the value is within a factor ``1 + error / 2`` of it; values below
    ``least`` count as 0.
    """

    __slots__ = ("_factor", "_least", "answer")

    def __init__(self, *, error: float, least: float, start: float) -> None:
        self._factor = 1 + error / 2
        self._least = least
        self.answer = self._read(start)

    def left_by(self, value: float) -> bool:
        """Return whether the value has left the answer, which then becomes the value."""
        y = self._read(value)
        if self.answer <= y * self._factor and y <= self.answer * self._factor:
            return False
        self.answer = y
        return True

    def _read(self, value: float) -> float:
        y = float(value)
        return y if isfinite(y) and y >= self._least else 0.0


# ---- The two ways to answer from many copies: by a private median, and by switching --------------


WIDEST = 1 << 20
"""The most cells of a window on either side."""


class Dynamic(Protocol):
    """A dynamic algorithm: it is told of changes and can be asked for a value."""

    def update(self, *change: Any) -> object:
        """Take a change in."""

    def query(self) -> float:
        """Return the value after all changes so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustTerms:
    """What both ways are told; `Robust` explains and checks it."""

    copies: int
    steps: int | None
    error: float
    start: float
    least: float
    wrong: float
    beta: float


class ByMedian:
    """The private median of a sample of the copies, as in the lecture."""

    def __init__(
        self, terms: RobustTerms, *, sample: int | None, epsilon0: Number | None, window: int
    ) -> None:
        if epsilon0 is None or terms.steps is None:
            raise ParameterTypeError(
                "epsilon0" if epsilon0 is None else "steps", "be given for the method 'dp-median'",
                "", "Use {epsilon0} and {steps}.", epsilon0=2, steps=10_000,
            )  # fmt: skip
        self.terms = terms
        self.steps = terms.steps
        self.sample = terms.copies if sample is None else integer(sample, "sample", least=1)
        if self.sample > terms.copies:
            must, hint = f"be at most the number of copies ({terms.copies})", "Use {sample}."
            raise ParameterError("sample", must, given(self.sample), hint, sample=terms.copies)
        self.window = integer(window, "window", least=1, most=WIDEST)
        self.cells = 2 * self.window + 1
        needed = 4 * log(self.cells - 1) / self.sample
        ample = float(f"{max(40 / self.sample, 2 * needed):.3g}")
        self.epsilon0 = positive(epsilon0, "epsilon0", example=ample)
        if self.stray >= 1:
            must = (
                f"be above {needed:.3g} for the median of {self.sample} copies on {self.cells} "
                f"cells to be more than noise"
            )
            hint = "Use {epsilon0}, or a larger sample."
            raise ParameterError("epsilon0", must, given(epsilon0), hint, epsilon0=ample)
        self._median = PrivateMedian(
            epsilon0=self.epsilon0, error=terms.error, window=self.window,
            least=terms.least * (1 - 0.75 * terms.error), start=terms.start,
        )  # fmt: skip

    @property
    def stray(self) -> float:
        """The chance, at most, that noise alone takes an answer astray though all copies agree."""
        return stray(self.sample, self.terms.copies, 0, float(self.epsilon0), cells=self.cells)

    @property
    def reach(self) -> float:
        r"""By what factor the value may move from answer to answer and be answered by one look.

        The cell last answered has a right value on either side, so :math:`f(1 - 3\alpha/4)` lies
        below its upper edge. Now right values are at most :math:`f'(1 + 3\alpha/4)`, and
        :math:`h - 1` cells lie between that edge and the last cell. Likewise downwards. Below 1,
        not even a value that stands still need be. *Checked by*
        ``test_what_is_in_reach_takes_one_look``.
        """
        off = 0.75 * self.terms.error
        return (1 + self.terms.error / 4) ** (self.window - 1) * (1 - off) / (1 + off)

    def look(self, live: list[Dynamic], source: Source) -> float | None:
        """Draw copies, ask them, and answer near their median; None if they need another look."""
        drawn = drawn_of(len(live), self.sample, source)
        values = np.array([live[i].query() for i in drawn], dtype=np.float64)
        return self._median.look(values, source)

    def proof(self) -> Proof:
        """Return the steps that `certified_steps` proves."""
        terms, steps = self.terms, 0
        if self.reach < 1:
            grounds = f"a window of {self.window} cells may never settle on an answer; widen it"
        else:
            steps = certified_steps(
                terms.copies, sample=self.sample, epsilon0=self.epsilon0, cells=self.cells,
                wrong=terms.wrong, beta=terms.beta, limit=self.steps,
            )  # fmt: skip
            leap = (1 + terms.error / 4) ** self.window
            grounds = (
                "privacy of the seeds, if a copy is off by more than "
                f"{0.75 * terms.error:g} with probability {terms.wrong:g} at most at a step fixed "
                "in advance; a step is a look, and an answer takes one while the value moves by a "
                f"factor {self.reach:.3g} at most, one more for each factor {leap:.3g} that it "
                "leaps"
            )
            if not steps:
                grounds = (
                    f"{terms.copies} copies are too few for epsilon0 {float(self.epsilon0):g} on a "
                    f"sample of {self.sample}; see copies_needed"
                )
        return Proof(steps, terms.beta, grounds)

    def ran_out(self) -> tuple[str, str]:
        """Return of which parameter what must hold for one more look."""
        return "steps", f"be above {self.steps} for one more look at these copies"

    def __str__(self) -> str:
        return (
            f"method='dp-median', copies={self.terms.copies}, sample={self.sample}, "
            f"epsilon0={float(self.epsilon0):g}, steps={self.steps}, "
            f"error={self.terms.error:g}"
        )


class BySwitching:
    """One copy after the other, each until the answer shown has to change."""

    stray = 0.0

    def __init__(self, terms: RobustTerms, *, sample: int | None, epsilon0: Number | None) -> None:
        if sample is not None or epsilon0 is not None:
            raise ParameterTypeError(
                "sample" if epsilon0 is None else "epsilon0",
                "be omitted for the method 'switching'",
                given(sample if epsilon0 is None else epsilon0),
                "Omit {sample} and {epsilon0}: each change of the answer uses one copy.",
                sample=LEFT_OUT, epsilon0=LEFT_OUT,
            )  # fmt: skip
        self.terms = terms
        least = terms.least * (1 - terms.error / 4)
        self._shown = Switching(error=terms.error, least=least, start=terms.start)

    def look(self, live: list[Dynamic], source: Source) -> float | None:
        """Ask the active copy, and drop it if the answer becomes its value."""
        if self._shown.left_by(live[0].query()):
            del live[0]
        return self._shown.answer

    def proof(self) -> Proof:
        """Return that no number of steps is too large, if the copies are good enough."""
        copies, wrong, beta = self.terms.copies, self.terms.wrong, self.terms.beta
        if copies * wrong > beta:
            return Proof(
                0, beta,
                f"{copies} copies that fail with probability {wrong:g} each may fail together more "
                f"often than {beta:g}; take copies with wrong={beta / copies:g}",
            )  # fmt: skip
        return Proof(
            ENDLESS if self.terms.steps is None else self.terms.steps, copies * wrong,
            f"sketch switching, while the answer changes {copies} times at most, if a copy is ever "
            f"off by more than {self.terms.error / 4:g} on a stream fixed in advance with "
            f"probability {wrong:g} at most",
        )  # fmt: skip

    def ran_out(self) -> tuple[str, str]:
        limit = "" if self.terms.steps is None else f", and steps above {self.terms.steps},"
        return "copies", f"be above {self.terms.copies}{limit} for one more answer"

    def __str__(self) -> str:
        steps = "" if self.terms.steps is None else f", steps={self.terms.steps}"
        return f"method='switching', copies={self.terms.copies}{steps}, error={self.terms.error:g}"


def drawn_of(copies: int, sample: int, source: Source = SYSTEM) -> list[int]:
    """Draw ``sample`` of ``copies`` places, each set as likely as any other.

    The first steps of Fisher's and Yates's shuffle. *Checked by*
    ``test_every_sample_is_as_likely_as_another``.
    """
    places = list(range(copies))
    if sample == copies:
        return places
    jumps = uniform_below(np.arange(copies, copies - sample, -1), source=source)
    for i, jump in enumerate(jumps.tolist()):
        places[i], places[i + jump] = places[i + jump], places[i]
    return places[:sample]


# ---- Any dynamic algorithm, made to withstand updates that depend on its answers -----------------
#
# An *oblivious* algorithm is right, with high probability, on updates fixed in advance. Who sees
# its answers learns of its random bits and can then steer it off. `Robust` runs many copies with
# secret seeds and answers so that the answers say little of any one seed: Stemmer's lecture 9, part
# (c), or sketch switching.


SEEDS = 1 << 128


MOST_COPIES = 1 << 20


class Robust:
    r"""Many copies of a dynamic algorithm, and one answer that betrays none of them.

    Parameters
    ----------
    factory
        Makes a copy from a secret seed, a whole number of 128 bits. A copy has ``update(*change)``
        and ``query()``, which returns a value of 0 or more and leaves the copy as it was. Negative
        values and NaN count as 0: shift, or split by sign, what can be negative.
    method
        ``"dp-median"``: every update goes to all copies; a query draws ``sample`` of them and
        answers with the private median of their values. ``"switching"``: the copies answer one
        after the other, each until its value has left the answer shown.
    copies
        :math:`k`. Under switching also how often the answer can change.
    sample, epsilon0
        :math:`s`, all copies if left out, and what one look may spend of the sample. Choose
        ``sample * epsilon0`` of 40 or more; `stray` says how often noise alone goes astray.
    steps
        :math:`T`, the looks of a phase. After them all copies are made anew, with fresh seeds.
    error
        :math:`\alpha`, at most 1: how far, relatively, an answer may be off.
    start
        A guess at the first answer: 0 for an empty input. A bad one costs looks, nothing else.
    window
        A look finds a value within this many cells, each a factor :math:`1 + \alpha/4`, of the last
        answer. Where the value lies beyond, the query looks again, around the last cell seen.
    least
        The least that the truth can be if it is not 0. What no copy could see then counts as 0.
    wrong
        What the proof may assume of a copy. ``"dp-median"``: the chance that it is off by more
        than :math:`3\alpha/4` at one step fixed in advance. ``"switching"``: that it is ever off by
        more than :math:`\alpha/4` on a stream fixed in advance.
    confidence
        The probability with which what is proved of a phase holds.
    current
        Returns the changes that build the current input, each a tuple; with it a new phase begins
        by itself. Without it the first query after the last raises `BudgetExceededError`.
    source
        Where seeds, samples and noise come from.

    Attributes
    ----------
    queries, looks, changes, resets
        How many answers there were, how many looks they took, how often the answer changed, how
        many phases ended.

    Notes
    -----
    What one look says of one seed is bounded as in the corrected lecture: the exponential
    mechanism on :math:`s` of :math:`k` copies costs
    :math:`\ln(1 + (s/k)(e^{\varepsilon_0} - 1))`. `certificate` counts the steps that are proved.
    A step is a look. A query takes one while the value moves little, and more after a leap. How
    many it takes may be seen, and nothing is assumed of how the value moves. *Checked by*
    ``test_an_answer_after_a_leap_is_right``. A copy must not fail, or take longer, for reasons of
    its seed: nothing here would hide that.

    References
    ----------
    .. [1] A. Beimel, H. Kaplan, Y. Mansour, K. Nissim, T. Saranurak, U. Stemmer, "Dynamic
       algorithms against an adaptive adversary: generic constructions and lower bounds", STOC 2022.
    .. [2] O. Ben-Eliezer, R. Jayaram, D. Woodruff, E. Yogev, "A framework for adversarially robust
       streaming algorithms", PODS 2020.

    Examples
    --------
    >>> class Counter:
    ...     def __init__(self, seed):
    ...         self.count, self.slant = 0, 0.9 + (seed % 1000) / 5000
    ...     def update(self, change):
    ...         self.count += change
    ...     def query(self):
    ...         return self.count * self.slant
    >>> robust = Robust(Counter, copies=200, sample=50, epsilon0=2, steps=1000, start=100)
    >>> robust.update(120)
    >>> 90 < robust.query() < 150, robust.certificate()
    (True, 0)
    """

    def __init__(
        self,
        factory: Callable[[int], Dynamic],
        *,
        copies: int,
        method: str = "dp-median",
        sample: int | None = None,
        epsilon0: Number | None = None,
        steps: int | None = None,
        error: Number = 0.25,
        start: Number = 0,
        window: int = 12,
        least: Number = 1,
        wrong: Number = 0.01,
        confidence: Number = 0.95,
        current: Callable[[], Iterable[tuple[Any, ...]]] | None = None,
        source: Source = SYSTEM,
    ) -> None:
        for name, function in (("factory", factory), ("current", current or iter)):
            if not callable(function):
                hint = "Use Robust(lambda seed: MySketch(seed), current=lambda: changes, ...)."
                raise ParameterTypeError(name, "be a function", kind(function), hint)
        terms = RobustTerms(
            copies=integer(copies, "copies", least=1, most=MOST_COPIES),
            steps=None if steps is None else integer(steps, "steps", least=1),
            error=float(number(error, "error", above=0, most=1)),
            start=float(at_least(start, "start", 0)),
            least=float(positive(least, "least")),
            wrong=float(number(wrong, "wrong", above=0, most=1)),
            beta=float(beta_of(confidence)),
        )
        self._method: ByMedian | BySwitching
        if one_of(method, "method", "dp-median", "switching") == "dp-median":
            self._method = ByMedian(terms, sample=sample, epsilon0=epsilon0, window=window)
        else:
            self._method = BySwitching(terms, sample=sample, epsilon0=epsilon0)
        self.terms = terms
        self.queries = self.looks = self.changes = self.resets = 0
        self._factory, self._current, self._source = factory, current, source
        self._last = terms.start
        self._live = self._made_anew()
        self._taken = 0

    @property
    def stray(self) -> float:
        """The chance, at most, that noise alone takes a look astray though all copies agree."""
        return self._method.stray

    def update(self, *change: Any) -> None:
        """Hand a change to every copy."""
        for copy in self._live:
            copy.update(*change)

    def update_many(self, *changes: Any) -> None:
        """Hand many changes at once to every copy, which must have ``update_many`` too."""
        for copy in self._live:
            copy.update_many(*changes)  # type: ignore[attr-defined]

    def query(self) -> float:
        """Return the robust answer; every look that it takes counts as a step."""
        answer = None
        while answer is None:
            if not self._live or self._taken == self.terms.steps:
                self.reset()
            self._taken += 1
            self.looks += 1
            answer = self._method.look(self._live, self._source)
        self.queries += 1
        self.changes += answer != self._last
        self._last = answer
        return answer

    def reset(self) -> None:
        """Begin a new phase: all copies anew, with fresh seeds, on the current input."""
        if self._current is None:
            name, must = self._method.ran_out()
            hint = (
                "Use Robust(..., current=lambda: changes), which returns the changes that build "
                "the current input, so that a new phase can begin."
            )
            raise BudgetExceededError(name, must, "", hint)
        live = self._made_anew()
        for change in self._current():
            for copy in live:
                copy.update(*change)
        self._live = live
        self._taken = 0
        self.resets += 1

    def certificate(self) -> int:
        """Return how many adaptive steps of a phase are proved: 0 if nothing is."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved of a phase, and on which grounds."""
        if not self._source.private:
            return Proof(0, self.terms.beta, "the seeds can be foreseen; leave source out")
        return self._method.proof()

    def __repr__(self) -> str:
        return f"Robust({self._method}): answers={self.queries}, looks={self.looks}"

    def _made_anew(self) -> list[Dynamic]:
        seeds = (uniform_below(SEEDS, source=self._source) for _ in range(self.terms.copies))
        return [_checked(self._factory(seed)) for seed in seeds]


def _checked(copy: Dynamic) -> Dynamic:
    for method in ("update", "query"):
        if not callable(getattr(copy, method, None)):
            must = "return copies with update(*change) and query()"
            hint = "Use Robust(lambda seed: MySketch(seed), ...)."
            raise ParameterTypeError("factory", must, f"{kind(copy)} without {method}", hint)
    return copy
