r"""Any dynamic algorithm, made to withstand updates that depend on its answers.

An *oblivious* algorithm is right, with high probability, on updates fixed in advance. Who sees its
answers learns of its random bits and can then steer it off. `Robust` runs many copies with secret
seeds and answers so that the answers say little of any one seed: Stemmer's lecture 9, part (c), or
sketch switching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.adaptive.robust.methods import ByMedian, BySwitching, Dynamic, Method, RobustTerms
from sourdine.adaptive.robust.proof import Proof
from sourdine.errors import BudgetExceededError, ParameterTypeError
from sourdine.exact import at_least, integer, kind, number, one_of, positive
from sourdine.noise import SYSTEM, uniform_below
from sourdine.release import beta_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["Robust"]

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

    def __init__(  # noqa: PLR0913 - the lecture's symbols
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
                raise ParameterTypeError(
                    name,
                    "be a function",
                    kind(function),
                    "Type Robust(lambda seed: MySketch(seed), current=lambda: changes, ...).",
                )
        terms = RobustTerms(
            copies=integer(copies, "copies", least=1, most=MOST_COPIES),
            steps=None if steps is None else integer(steps, "steps", least=1),
            error=float(number(error, "error", above=0, most=1)),
            start=float(at_least(start, "start", 0)),
            least=float(positive(least, "least")),
            wrong=float(number(wrong, "wrong", above=0, most=1)),
            beta=float(beta_of(confidence)),
        )
        if one_of(method, "method", "dp-median", "switching") == "dp-median":
            self._method: Method = ByMedian(terms, sample=sample, epsilon0=epsilon0, window=window)
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

    def update(self, *change: Any) -> None:  # noqa: ANN401
        """Hand a change to every copy."""
        for copy in self._live:
            copy.update(*change)

    def update_many(self, *changes: Any) -> None:  # noqa: ANN401
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
            raise BudgetExceededError(
                name,
                must,
                "as many",
                "Type Robust(..., current=lambda: changes), which returns the changes that build "
                "the current input, so that a new phase can begin.",
            )
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
        return [
            _checked(self._factory(uniform_below(SEEDS, source=self._source)))
            for _ in range(self.terms.copies)
        ]


def _checked(copy: Dynamic) -> Dynamic:
    for method in ("update", "query"):
        if not callable(getattr(copy, method, None)):
            raise ParameterTypeError(
                "factory",
                "make copies with update(*change) and query()",
                f"{kind(copy)} without {method}",
                "Type Robust(lambda seed: MySketch(seed), ...).",
            )
    return copy
