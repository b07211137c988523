"""Averages with Gaussian noise: differential privacy as a means to stay true."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import Certificate
from sourdine.adaptive.information import informed_width
from sourdine.exact import integer, number, positive
from sourdine.mechanisms.mechanism import read_scale
from sourdine.noise import SYSTEM, discrete_gaussian
from sourdine.privacy import SUBSTITUTE, Concentrated, Guarantee
from sourdine_lab.answering.ticks import GRID, SLACK, read_sample, total
from sourdine_lab.answering.widths import noise_tail

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.adaptive.queries import Query
    from sourdine.exact import Number
    from sourdine.noise import Source

__all__ = ["GaussianNoise"]


class GaussianNoise:
    r"""Answer with the average plus noise of standard deviation :math:`\sigma`.

    The noise is the exact discrete Gaussian on ticks of :math:`2^{-20}/n`.

    Parameters
    ----------
    sample
        The rows.
    sigma
        :math:`\sigma`, above 0, on the scale of the average.
    source
        Where the random bits come from.

    Notes
    -----
    *Claim*: :math:`k` answers hold at most :math:`k/(8n\sigma^2)` nats about independent rows, so
    that `certificate` covers whatever an analyst does. *Checked by*
    ``test_certificates_cover_an_overfitting_analyst``.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = GaussianNoise(np.arange(1000), sigma=0.01)
    >>> abs(noisy.answer(lambda x: x < 300) - 0.3) < 0.1
    True
    """

    __slots__ = ("_rows", "_source", "asked", "n", "sigma", "variance")

    def __init__(self, sample: Any, sigma: Number, *, source: Source = SYSTEM) -> None:
        self._rows, self._source = read_sample(sample), source
        self.n, self.asked = len(self._rows), 0
        self.sigma: Fraction = positive(sigma, "sigma")
        self.variance: Fraction = read_scale(self.sigma * self.n * GRID) ** 2

    def answer(self, query: Query) -> float:
        """Return the average and noise; it may be below 0 or above 1."""
        self.asked += 1
        noise = discrete_gaussian(self.variance, source=self._source)
        return (total(query, self._rows) + noise) / (self.n * GRID)

    @property
    def privacy(self) -> Concentrated | Guarantee:
        r"""What the answers so far cost: :math:`\rho = k/(2n^2\sigma^2)`; no promise if seeded."""
        if not self._source.private:
            return Guarantee.none(SUBSTITUTE)
        return Concentrated.gaussian(GRID, self.variance, SUBSTITUTE).times(self.asked)

    def certificate(self, beta: Number = 0.05, *, rounds: int | None = None) -> Certificate:
        """Return noise and what the noisy answers let a query overfit, at the best split of beta.

        Parameters
        ----------
        beta
            The chance that any answer fails.
        rounds
            How many questions there were to be. If left out, those asked: right only if nobody
            stopped because of the answers.

        Examples
        --------
        >>> import numpy as np
        >>> noisy = GaussianNoise(np.zeros(100_000), sigma=0.02)
        >>> for _ in range(100):
        ...     _ = noisy.answer(lambda x: x > 0)
        >>> round(noisy.certificate(0.05).halfwidth, 4)
        0.0826
        """
        chance = float(number(beta, "beta", above=0, most=1))
        k = max(self.asked, integer(1 if rounds is None else rounds, "rounds", least=1))
        sigma = sqrt(self.variance) / (self.n * GRID)
        nats = k / (8 * self.n * sigma**2)
        shares = (chance * i / 32 for i in range(1, 32))
        width = min(
            noise_tail(sigma, k, share) + informed_width(nats, self.n, chance - share)
            for share in shares
        )
        grounds = f"information of {k} Gaussian answers, a number fixed before, rows independent"
        return Certificate(width + SLACK, chance, self.asked, grounds)
