r"""Order statistics of a uniform sample: :math:`X_{(m)} \sim \text{Beta}(m, n-m+1)`.

With :math:`X_{(m)} = 0` for :math:`m \le 0` and 1 for :math:`m > n`, so a rank outside of the
sample bounds nothing and needs no case of its own. Ranks may be real (the printed theorems use
them so); theorems that are right use whole ones.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Rank"]


@dataclass(frozen=True, slots=True)
class Rank:
    """The order statistic of rank ``m`` of ``n`` independent uniform variables.

    Examples
    --------
    >>> round(Rank(50, 99).at_most(0.5), 12)
    0.5
    >>> Rank(-3, 99).at_most(0.0), Rank(100, 99).at_most(0.999)
    (1.0, 0.0)
    """

    m: float
    n: int

    def at_most(self, x: float) -> float:
        """Return the probability that it is ``x`` or less: the regularised incomplete beta."""
        from scipy.special import betainc

        if self.m <= 0 or x >= 1:
            return float(x >= 0)
        if self.m > self.n or x <= 0:
            return 0.0
        return float(betainc(self.m, self.n - self.m + 1, x))

    def above(self, x: float, upper: float = 1.0) -> float:
        r"""Return :math:`E \min(X_{(m)} - x, u - x)^+ = \int_x^u P(X_{(m)} > t)\,dt`."""
        return max(0.0, upper - x - (self._area(upper) - self._area(x)))

    def below(self, x: float) -> float:
        r"""Return :math:`E (x - X_{(m)})^+ = \int_0^x P(X_{(m)} \le t)\,dt`."""
        return max(0.0, self._area(x))

    def _area(self, x: float) -> float:
        r"""Return :math:`\int_0^x P(X_{(m)} \le t)\,dt = x P_m(x) - \frac{m}{n+1} P_{m+1}(x)`.

        :math:`P_{m+1}` is that of rank :math:`m+1` among :math:`n+1` variables.
        """
        if self.m <= 0:
            return x
        if self.m > self.n:
            return 0.0
        more = Rank(self.m + 1, self.n + 1)
        return x * self.at_most(x) - self.m / (self.n + 1) * more.at_most(x)
