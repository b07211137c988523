r"""What privacy tells about validity: an account of information that is not counted in bits.

*Theorem* (C. Dwork et al., "Generalization in adaptive data analysis and holdout reuse", NIPS 2015,
theorem 20, with a better constant). Let :math:`M` be :math:`\varepsilon`-differentially private
under `SUBSTITUTE`, :math:`S` a sample of :math:`n` independent rows, :math:`S'` another one of the
same law. For every set :math:`O` of pairs,

.. math:: \Pr[(S, M(S)) \in O] \le e^I \Pr[(S', M(S)) \in O] + \beta, \qquad
          I = v + \sqrt{v^2 + 2 v \ln(1/\beta)}, \quad v = n \varepsilon^2 / 4.

*Proof*. Fix an outcome :math:`y`; :math:`g(s) = \ln\Pr[M(s) = y]` moves by at most
:math:`\varepsilon` with a row, so :math:`Y = g(S) - \mathrm{E}g(S)` has
:math:`\mathrm{E}e^{\lambda Y} \le e^{\lambda^2 v / 2}` (McDiarmid). By Jensen's inequality
:math:`Z = g(S) - \ln\Pr[M(S) = y] \le Y`. Given :math:`M(S) = y`, the sample has the density
:math:`e^Z`, so :math:`\Pr[Z > I \mid y] = \mathrm{E}[e^Z; Z > I] \le
\mathrm{E}e^{\lambda Y - (\lambda - 1) I} \le e^{\lambda^2 v / 2 - (\lambda - 1) I}` for
:math:`\lambda \ge 1`, which :math:`\lambda = I / v` makes :math:`e^{I - I^2 / 2v} = \beta`. Where
:math:`Z \le I`, the joint law is at most :math:`e^I` times that of independent ones.
"""

from __future__ import annotations

from math import log, sqrt

__all__ = ["max_information"]


def max_information(epsilon: float, n: int, beta: float) -> float:
    r"""Return :math:`I`, in nats. *Checked by* ``test_max_information_of_randomised_response``.

    Examples
    --------
    >>> [round(max_information(epsilon, 100_000, 0.01), 1) for epsilon in (0.1, 0.01)]
    [504.6, 7.9]
    """
    v = n * epsilon**2 / 4
    return v + sqrt(v * v - 2 * v * log(beta))
