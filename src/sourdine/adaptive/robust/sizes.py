r"""How much memory the choices of `sourdine.adaptive.robust.advise` take, in bytes.

Each formula is that of the theorem behind the choice, evaluated; where a sketch must be right at
all :math:`T` steps with probability :math:`1 - \beta`, its chance to fail at one is
:math:`\beta/T`.
"""

from __future__ import annotations

from math import ceil, floor, log, log2

__all__ = [
    "ams_bytes",
    "bitset_bytes",
    "flips_needed",
    "gk_bytes",
    "hll_bytes",
    "misra_gries_bytes",
    "reservoir_bytes",
    "table_bytes",
]


def bitset_bytes(universe: int) -> int:
    """Return an eighth: one bit for each item there can be."""
    return ceil(universe / 8)


def table_bytes(universe: int) -> int:
    """Return 16 for each item: its name and a number."""
    return 16 * universe


def hll_bytes(error: float, beta: float) -> int:
    r"""Return the registers of a HyperLogLog, one byte each.

    A power of two with :math:`1.04\,z_{\delta/2}/\sqrt m \le \alpha`, its standard error times the
    normal quantile: its error is close to normal. (That a keyed sketch keeps its law is proved;
    this size of it is an approximation, 3 in 2000 for 1 in 1000 at 16 registers.)

    Examples
    --------
    >>> hll_bytes(0.25, 0.05), hll_bytes(0.02, 0.05)
    (128, 16384)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - scipy is loaded late

    registers = (1.04 * float(ndtri(beta / 2)) / error) ** 2
    return max(16, int(2 ** ceil(log2(registers))))


def ams_bytes(error: float, beta: float) -> int:
    r"""Return the counters of a tug-of-war sketch, eight bytes each.

    :math:`2 e^{-r(\epsilon^2/4 - \epsilon^3/6)} \le \delta` rows (Achlioptas 2003).

    Examples
    --------
    >>> ams_bytes(0.1875, 0.01)
    5512
    """
    return 8 * ceil(log(2 / beta) / (error**2 / 4 - error**3 / 6))


def flips_needed(growth: float, error: float) -> int:
    r"""Return how often switching changes the answer while a rising value grows by a factor.

    .. math:: 1 + \left\lfloor \frac{\ln(g (1 + e)/(1 - e))}{\ln(1 + \alpha/2)} \right\rfloor,
              \qquad e = \frac{\alpha}{5},

    at most, with copies within :math:`e`. The answer never falls, for :math:`(1 + e)/(1 - e) < 1 +
    \alpha/2`; each change multiplies it by :math:`1 + \alpha/2` and more; and the last is within
    :math:`e` of a value :math:`g` times that of the first. The bound is reached. *Checked by*
    ``test_the_flips_of_a_rising_value``.

    Examples
    --------
    >>> flips_needed(1e10, 0.25)
    197
    """
    e = error / 5
    return 1 + floor(log(growth * (1 + e) / (1 - e)) / log(1 + error / 2))


def misra_gries_bytes(error: float) -> int:
    r"""Return :math:`1/\alpha` counters of 16 bytes: no count is off by more than a share alpha."""
    return 16 * ceil(1 / error)


def gk_bytes(error: float, stream: int) -> int:
    r"""Return :math:`\frac{11}{2\alpha}\log_2(2\alpha n)` tuples of 24 bytes (Greenwald-Khanna)."""
    return 24 * ceil(5.5 / error * log2(max(2.0, 2 * error * stream)))


def reservoir_bytes(error: float, beta: float, universe: int) -> int:
    r"""Return :math:`2(\ln N + \ln(2/\delta))/\alpha^2` items of 8 bytes (Ben-Eliezer, Yogev 2020).

    Right, but for :math:`\delta`, after a stream that reacts to the sample; :math:`N` thresholds.
    """
    return 8 * ceil(2 * (log(universe) + log(2 / beta)) / error**2)
