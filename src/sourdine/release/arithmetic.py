"""An answer of one number counts as that number; what is computed from it is a plain number."""

from __future__ import annotations

import datetime as dt
import operator
from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.presentation.dates import is_date, is_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OneNumber"]


def _forward(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: OneNumber, other: object) -> Any:  # noqa: ANN401
        number = _operand(other)
        return NotImplemented if number is None else act(self._alone(), number)

    return method


def _reflected(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: OneNumber, other: object) -> Any:  # noqa: ANN401
        number = _operand(other)
        return NotImplemented if number is None else act(number, self._alone())

    return method


def _operand(other: object) -> Any:  # noqa: ANN401
    if isinstance(other, OneNumber):
        return other._alone()  # noqa: SLF001 - its own kind
    return other if isinstance(other, (Real, np.ndarray, dt.date, dt.timedelta)) else None


class OneNumber:
    """Comparisons, arithmetic and rounding by the only number; of several, they are refused.

    The result is a plain number: the interval and the cost stay with the answer. ``==`` asks
    whether two answers are the same, so a number is compared by ``answer.value == 3``.

    Examples
    --------
    >>> import sourdine as sd
    >>> r = sd.count(range(1000), epsilon=1)
    >>> r > 500, r - r.value, round(r / 1000, 1), abs(-r) == r.value
    (True, 0, 1.0, True)
    """

    __slots__ = ()

    @abstractmethod
    def _numbers(self) -> Sequence[Any]:
        """Return all numbers of the answer."""

    def _alone(self) -> Any:  # noqa: ANN401
        """Return the only number, date or duration, or refuse."""
        values = self._numbers()
        if len(values) != 1:
            raise ParameterTypeError(
                "the answer",
                "be one number to count as one",
                f"{len(values)} numbers",
                "Use .value, or numpy.asarray(answer).",
            )
        return values[0]

    def _number(self) -> Any:  # noqa: ANN401
        """Return the only number; a date is none."""
        value = self._alone()
        if is_date(value) or is_duration(value):
            raise ParameterTypeError(
                "the answer",
                "be a number to count as one",
                "a date" if is_date(value) else "a duration",
                "Use .value, or numpy.asarray(answer).",
            )
        return value

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __round__(self, digits: int | None = None) -> Any:  # noqa: ANN401
        return round(self._number(), digits)

    def __abs__(self) -> Any:  # noqa: ANN401
        return abs(self._alone())

    def __neg__(self) -> Any:  # noqa: ANN401
        return -self._alone()

    def __pos__(self) -> Any:  # noqa: ANN401
        return +self._alone()

    __lt__, __le__ = _forward(operator.lt), _forward(operator.le)
    __gt__, __ge__ = _forward(operator.gt), _forward(operator.ge)
    __add__, __radd__ = _forward(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _forward(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _forward(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _forward(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _forward(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _forward(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _forward(operator.pow), _reflected(operator.pow)
