r"""Sketch switching: show one copy's answer until the next copy disagrees.

*Theorem* (Ben-Eliezer, Jayaram, Woodruff, Yogev 2020). Let each copy be within :math:`\alpha/4` of
the truth at every step of a stream fixed in advance, but for a chance :math:`p`. Then all answers
are within :math:`\alpha` for as long as copies last, but for :math:`k p`. *Proof.* While an answer
stands, the adversary learns nothing but that it stands: what it does next is fixed by the copies
that were shown, so the stream up to the next change is fixed for the active copy. Shown
:math:`z` and active :math:`y` are within a factor :math:`1 + \alpha/2`, and
:math:`(1 + \alpha/4)(1 + \alpha/2) \le 1 + \alpha`,
:math:`(1 - \alpha/4)/(1 + \alpha/2) \ge 1 - \alpha` for :math:`\alpha \le 1`. A copy whose value
was shown is never asked again. ∎ *Checked by* ``test_switching_stays_right_while_copies_last``.
"""

from __future__ import annotations

from math import isfinite

__all__ = ["Switching"]


class Switching:
    """The answer on show, and whether a value has left it.

    Parameters
    ----------
    error
        The answer stands while the value is within a factor ``1 + error / 2`` of it.
    least
        Values below it count as 0.
    start
        The answer before the first.

    Examples
    --------
    >>> shown = Switching(error=0.25, least=1.0, start=0.0)
    >>> [shown.left_by(y) for y in (0.0, 100.0, 110.0, 113.0)]
    [False, True, False, True]
    >>> shown.answer
    113.0
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
