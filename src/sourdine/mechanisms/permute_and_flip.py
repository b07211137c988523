"""Permute-and-flip: a choice that is never worse than the exponential mechanism's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.laws import Law
from sourdine.mechanisms.exponential import Selection
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.mechanisms.inputs import Value
    from sourdine.noise import Source

__all__ = ["PermuteAndFlip"]


@frozen(kw_only=True)
class PermuteAndFlip(Selection):
    r"""Flip a coin of :math:`a_i = e^{c(u_i - \max u)}` each; choose among the heads.

    The best candidate's coin always falls heads. Going through the candidates in random order until
    the first heads, as the paper has it, is the same as a uniform choice among all heads.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy with the constants of the
    exponential mechanism. *Checked by* ``test_exact_worst_case[choice.permute_and_flip]``.
    *Claim*: its expected loss is never above that of the exponential mechanism. *Checked by*
    ``test_permute_and_flip_beats_exponential``.

    References
    ----------
    .. [1] R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private
       selection", NeurIPS 2020.

    Examples
    --------
    >>> vote = PermuteAndFlip(epsilon=1, candidates=3)
    >>> vote.law(vote.read([10, 8, 0])).pmf([0, 1, 2]).round(3).tolist()
    [0.814, 0.184, 0.003]
    """

    def draw(self, x: NDArray[np.int64], size: int | None, source: Source) -> Value:
        """Choose."""
        return noise.permute_and_flip(x, self.decay, size=size, source=source)

    def law(self, x: NDArray[np.int64]) -> Law:
        r"""Return :math:`P(i) = a_i\,E[1/(1 + N_i)]`, :math:`N_i` the other candidates' heads."""
        log_a = float(self.decay) * (x - x.max()).astype(np.float64)
        share = [np.log(_mean_share(np.delete(log_a, i))) for i in range(len(x))]
        return Law.finite(log_a + np.array(share), slack=2.0**-50 * len(x))


def _mean_share(log_a: NDArray[np.float64]) -> float:
    """Return the mean of 1/(1 + N), N the number of heads of these coins."""
    heads = np.ones(1)  # the law of N, coin by coin
    for a, tails in zip(np.exp(log_a), -np.expm1(log_a), strict=True):
        heads = np.append(heads * tails, 0.0) + np.append(0.0, heads * a)
    return float(heads @ (1 / np.arange(1, len(heads) + 1)))


register(
    Specimen(
        name="choice.permute_and_flip",
        also=("mode.permute_and_flip",),
        make=lambda epsilon: PermuteAndFlip(epsilon=epsilon, candidates=4),
        inputs=([0, 0, 0, 0], [0, 60, 60, 60], [5, 2, 0, 1]),
        tight=True,
    )
)
register(
    Specimen(
        name="choice.permute_and_flip.monotone",
        also=("mode.permute_and_flip.monotone",),
        make=lambda epsilon: PermuteAndFlip(epsilon=epsilon, candidates=4, monotone=True),
        inputs=([0, 0, 0, 0], [0, 60, 60, 60], [5, 2, 0, 1]),
        tight=True,
    )
)
