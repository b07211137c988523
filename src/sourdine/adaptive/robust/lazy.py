r"""Exact recomputation, put off for as long as the last value is still good.

Let :math:`f` change by at most :math:`\ell` per update, and let :math:`v` be its value :math:`c`
updates ago. Then :math:`v - c\ell \le f \le v + c\ell`, and

.. math:: c\,\ell \le \frac{\alpha |v|}{1 + \alpha}
          \quad\Longrightarrow\quad |v - f| \le \alpha |f|,

for :math:`|f| \ge |v| - c\ell \ge c\ell/\alpha`; one update more and :math:`f` may be farther. So
an answer costs nothing for about :math:`\alpha |v| / ((1 + \alpha)\ell)` updates. There is no
randomness to find out: the answers are right whatever the updates depend on. *Checked by*
``test_lazy_answers_are_always_right`` and ``test_lazy_waits_as_long_as_it_may``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.adaptive.robust.proof import ENDLESS, Proof
from sourdine.errors import LEFT_OUT, ParameterTypeError
from sourdine.exact import kind, number, positive, rational

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sourdine.exact import Number


class Lazy:
    r"""The value of a Lipschitz function of a changing input, recomputed only when it must be.

    Parameters
    ----------
    exact
        Returns the value for the current input.
    state
        Has ``update(*change)`` and is told of every change; left out if whoever changes the input
        does so itself and calls `update` once for each change.
    lipschitz
        :math:`\ell`, by how much one update can change the value.
    error
        :math:`\alpha`, above 0 and at most 1.

    Attributes
    ----------
    recomputations
        How often ``exact`` ran.

    Notes
    -----
    *Claim*: an answer is within ``error``, relatively, of the exact value. *Checked by*
    ``test_lazy_answers_are_always_right``.

    Examples
    --------
    >>> members = set()
    >>> size = Lazy(lambda: len(members), error=0.25)
    >>> answers = []
    >>> for person in range(1000):
    ...     members.add(person)
    ...     size.update()
    ...     answers.append(size.query())
    >>> size.recomputations, answers[-1], size.interval()
    (31, 921.0, (842.0, 1000.0))
    """

    __slots__ = ("_exact", "_since", "_state", "_value", "error", "lipschitz", "recomputations")

    def __init__(
        self,
        exact: Callable[[], float],
        state: Any = None,
        *,
        lipschitz: Number = 1,
        error: Number = 0.25,
    ) -> None:
        if not callable(exact):
            raise ParameterTypeError(
                "exact", "be a function", kind(exact), "Use Lazy(lambda: graph.mincut())."
            )
        if state is not None and not callable(getattr(state, "update", None)):
            raise ParameterTypeError(
                "state",
                "have a method update(*change)",
                kind(state),
                "Omit {state} and call update() once for each change.",
                state=LEFT_OUT,
            )
        self._exact, self._state = exact, state
        self.lipschitz = positive(lipschitz, "lipschitz")
        self.error = number(error, "error", above=0, most=1)
        self.recomputations = 0
        self._since = 0
        self._value: Fraction | None = None

    def update(self, *change: Any) -> None:
        """Hand a change to the state and count it."""
        if self._state is not None:
            self._state.update(*change)
        self._since += 1

    def query(self) -> float:
        """Return a value within ``error`` of the exact one."""
        v = self._value
        if v is None or self._drift > self.error * abs(v) / (1 + self.error):
            v = self._value = rational(self._exact(), "exact()")
            self._since = 0
            self.recomputations += 1
        return float(v)

    def interval(self) -> tuple[float, float]:
        """Return the ends between which the exact value lies, for sure."""
        v = rational(self.query(), "exact()")
        return float(v - self._drift), float(v + self._drift)

    def certificate(self) -> int:
        """Return how many adaptive steps are proved: more than anyone takes."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        return Proof(
            ENDLESS,
            0.0,
            f"deterministic, if one update changes the value by {float(self.lipschitz):g} at most",
        )

    def __repr__(self) -> str:
        return (
            f"Lazy(lipschitz={float(self.lipschitz):g}, error={float(self.error):g}): "
            f"recomputations={self.recomputations}"
        )

    @property
    def _drift(self) -> Fraction:
        return self.lipschitz * self._since
