r"""Is the new one better? Differences of losses, row by row, and what they prove.

Write :math:`d_i \in [-1, 1]` for what the old predictions lose on row :math:`i` more than the new
ones, :math:`D` for its average over the sample. The *rule of thumb* asks that :math:`D` be above
a number of standard errors. The *proof* asks for evidence against "the new one is no better".

*Claim*. Let the rows come in independent blocks of at most :math:`m` rows (:math:`m = 1`:
independent rows), and let the expectation of :math:`D` be 0 or less. For fixed
:math:`\lambda_1, \dots, \lambda_K \in [0, 1]`,

.. math:: E = \frac1K \sum_k \prod_i (1 + \lambda_k d_i)^{1/m}

has expectation 1 at most, so :math:`\Pr[E \ge e^t] \le e^{-t}` by Markov's inequality.

*Proof*. For one :math:`\lambda` and one block, with ones for the rows that it lacks, the geometric
mean of :math:`m` factors is at most their arithmetic mean :math:`1 + x_b`, where
:math:`x_b = \frac{\lambda}{m} \sum_{i \in b} d_i`. Blocks are independent, so the expectation of
the product is at most :math:`\prod_b (1 + E x_b) \le e^{\sum_b E x_b} \le 1`. Average over
:math:`k`. *Checked by* ``test_evidence_against_no_progress_is_rare``.

:math:`E` is what a gambler has who stakes a share :math:`\lambda` of the purse on every row at fair
odds [1]_; a sum over many :math:`\lambda` finds the best one at the cost of :math:`\ln K`. For
mistakes it is a sign test on the rows where the two differ, so small changes are seen that
Hoeffding's bound on all rows would miss.

References
----------
.. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
   Journal of the Royal Statistical Society B 86(1), 2024.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger import Blocks, Iid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.ledger import Dependence

__all__ = ["log_evidence", "proves_progress", "stands_out"]

STAKES = 0.5 ** (np.arange(1, 25) / 2)


def stands_out(d: NDArray[np.float64], margin: float, dependence: Dependence, nats: float) -> bool:
    """Return whether the average is above 0 and above ``margin`` of its standard errors.

    The standard error is that of independent rows, widened as the declared dependence widens
    Hoeffding's bound.

    Examples
    --------
    >>> d = np.array([1.0] * 12 + [-1.0] * 6 + [0.0] * 82)
    >>> stands_out(d, 1.0, Iid(), 5.0), stands_out(d, 1.0, Blocks(9), 5.0)
    (True, False)
    """
    n = len(d)
    wider = dependence.width(n, nats) / Iid().width(n, nats)
    error = float(d.std()) / sqrt(n) * max(wider, 1.0)
    return bool(d.mean() > max(margin * error, 0.0))


def log_evidence(d: NDArray[np.float64], block: int = 1) -> float:
    r"""Return :math:`\ln E`, the evidence that the expectation of the average is above 0.

    Examples
    --------
    >>> d = np.array([1.0] * 40 + [-1.0] * 5 + [0.0] * 955)
    >>> round(log_evidence(d), 2), round(log_evidence(-d), 2)
    (12.16, -0.65)
    """
    logs = np.array([np.log1p(stake * d).sum() for stake in STAKES]) / block
    most = logs.max()
    return float(most + log(np.exp(logs - most).mean()))


def proves_progress(d: NDArray[np.float64], dependence: Dependence, nats: float) -> bool:
    """Return whether the expected average is above 0, but for a chance of exp(-nats).

    By evidence for independent rows or blocks; else by the declared concentration of averages.
    """
    if isinstance(dependence, (Iid, Blocks)):
        block = dependence.size if isinstance(dependence, Blocks) else 1
        return log_evidence(d, block) >= nats
    lower, _ = dependence.interval((float(d.mean()) + 1) / 2, len(d), nats)
    return lower > 0.5
