"""Any mechanism with a density, drawn on a grid of answers."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.errors import ParameterError
from sourdine.mechanisms.exponential import Exponential
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from sourdine.mechanisms.exponential import Scores

__all__ = ["Gridded", "Weighed"]

UNIT = 1 << 20
"""Logarithms of densities are whole multiples of 1/UNIT."""
WIDEST = float(1 << 20)


class Weighed(np.ndarray[Any, np.dtype[np.int64]]):
    """Scores that were found for a data set: what is one is not read as a data set again."""


@frozen(kw_only=True)
class Gridded(Exponential):
    r"""Choose among :math:`N` answers with probability proportional to a density at each.

    A mechanism on the line is given by its density, :math:`f(x, y)`, of which the caller claims

    .. math:: |\ln f(x, y) - \ln f(x', y)| \le \varepsilon/2

    for all neighbours and answers. On a grid of answers it is the exponential mechanism with the
    score :math:`\ln f`: the weights move by :math:`e^{\varepsilon/2}`, their sum by as much again.
    As the grid becomes finer, its law tends to the one with density :math:`f` [1]_.

    Parameters
    ----------
    epsilon
        The privacy loss of the choice: twice that of the density.
    candidates
        :math:`N`, how many answers there are.
    log_density
        From a data set to :math:`\ln f` at the N answers, right to :math:`2^{-22}`; a constant of
        the data set, as a normaliser is, may be left out only if the claim holds without it.
    relation
        Which data sets are neighbours.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, if the caller's claim holds. Logarithms are
    kept within :math:`\pm 2^{20}`, which moves no two of them apart, an answer that is no number
    counts as impossible, and all are rounded to multiples of :math:`2^{-20}`: the rounding, and as
    much for the caller's floats, are part of the sensitivity. *Checked by*
    ``test_exact_worst_case[choice.gridded]``. *Claim*: the law tends to the density's. *Checked by*
    ``test_a_finer_grid_comes_nearer_to_the_density``.

    References
    ----------
    .. [1] Audibert 2024, section 5.2.

    Examples
    --------
    The mean of 100 numbers of [0, 1], by Laplace noise that is cut off at the ends:

    >>> y = (np.arange(50) + 0.5) / 50
    >>> def laplace(x):
    ...     return -100 * 0.5 * np.abs(y - np.mean(x))
    >>> mean = Gridded(epsilon=1, candidates=50, log_density=laplace, relation="substitute")
    >>> print(mean.guarantee)
    epsilon 1, one record replaced
    >>> law = mean.law(mean.read([0.31] * 100))
    >>> float(y[law.pmf(np.arange(50)).argmax()])
    0.31
    """

    log_density: Callable[[Any], ArrayLike] = field(repr=False)
    sensitivity: int = field(init=False)
    monotone: bool = field(init=False, default=False)

    @sensitivity.default
    def _ticks(self) -> int:
        return int(self.epsilon * UNIT / 2) + 2

    def read(self, x: object) -> Scores:
        """Return the logarithms of the densities at all answers, in ticks."""
        if isinstance(x, Weighed):
            return x
        logs = np.asarray(self.log_density(x), np.float64)
        if logs.shape != (self.candidates,):
            raise ParameterError(
                "log_density",
                f"return {self.candidates} numbers, one for each answer",
                f"an array of shape {logs.shape}",
                "Type {candidates}.",
                candidates=logs.size or 1,
            )
        return ticks_of(logs).view(Weighed)

    def neighbours(self, x: Scores) -> Iterator[Scores]:
        """Yield all score vectors whose entries stay or move as far as they may: the extremes."""
        for step in product((-self.sensitivity, 0, self.sensitivity), repeat=len(x)):
            yield x + np.array(step)


def ticks_of(logs: NDArray[np.float64]) -> Scores:
    """Return logarithms as whole multiples of 1/`UNIT`; what is no number is impossible."""
    known = np.where(np.isnan(logs), -np.inf, logs)
    return np.asarray(np.rint(np.clip(known, -WIDEST, WIDEST) * UNIT), np.int64)


def _specimen(epsilon: Any) -> Gridded:  # noqa: ANN401 - any number
    """Return a mean of four numbers between 0 and 1 on a grid of five answers up to 6."""
    answers = 1.5 * np.arange(5)

    def log_density(x: Any) -> NDArray[np.float64]:  # noqa: ANN401
        return np.asarray(-4 * float(epsilon) / 2 * np.abs(answers - np.mean(x)))

    return Gridded(epsilon=epsilon, candidates=5, log_density=log_density, relation="substitute")


register(
    Specimen(
        name="choice.gridded",
        make=_specimen,
        inputs=([0, 0, 0, 0], [0, 1, 1, 1], [1, 0, 0.5, 0.25]),
        tight=False,
    )
)
