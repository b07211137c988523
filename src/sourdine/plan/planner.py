"""From what a person types to a plan."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine import central
from sourdine.central.target import RISK
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, number, positive
from sourdine.plan.plans import Plan, Plans
from sourdine.plan.sharing import balanced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.exact.parameters import Number

__all__ = ["Planner", "statistic"]

_KNOWN = {"epsilon", "error", "n", "by", "keys", "unit", "rows", "relation", "column"}


def statistic(kind: str, **parameters: Any) -> Statistic:  # noqa: ANN401
    """Return the statistic that the function ``kind`` would release with these parameters.

    Examples
    --------
    >>> statistic("mean", bounds=(0, 120), step=1, epsilon=0.5).kind
    'mean'
    >>> statistic("count", bonds=(0, 120), epsilon=0.5)
    Traceback (most recent call last):
    sourdine.errors.ParameterTypeError: count must be given parameters it knows, got 'bonds'. It knows by, column, delta, epsilon, error, keys, n, relation, rows, unit.
    """  # noqa: E501
    make, given = _read(kind, parameters)
    return central.build(make, **given)


def _read(
    kind: str, parameters: Mapping[str, Any]
) -> tuple[Callable[..., Statistic], dict[str, Any]]:
    """Return what builds the statistic, and with what, as its function does."""
    given = {name: value for name, value in parameters.items() if value is not None}
    make: Callable[..., Statistic] = _class(kind)
    _require_known(kind, given)
    for field in fields(_class(kind)):  # what must be given is asked for by the statistic itself
        if field.init and field.default is MISSING and field.name != "epsilon":
            given.setdefault(field.name, None)
    private = given.pop("unit", None) is not None or "by" in given
    if kind in ("mean", "proportion") and private:
        given["missing"] = _excluded(given.get("missing", "auto"))
    if kind != "histogram" or "by" in given:  # otherwise the keys are categories
        given["groups"] = given.pop("keys", None)
    if kind == "quantiles":
        given["about"] = given.get("n")
    if kind == "proportion" and "error" not in given and not private:
        make = _fixed(make, n=given.get("n"))
    return make, given


def _class(kind: str) -> type[Statistic]:
    if kind == "quantiles":
        from sourdine.central.quantiles import Quantiles  # noqa: PLC0415 - loaded when asked for

        return Quantiles
    found: type[Statistic] = getattr(central, kind.capitalize())
    return found


def _require_known(kind: str, given: Mapping[str, Any]) -> None:
    known = _KNOWN | {field.name for field in fields(_class(kind)) if field.init}
    for name in given:
        if name not in known:
            raise ParameterTypeError(
                f"{kind} must be given parameters it knows, got {name!r}. "
                f"It knows {', '.join(sorted(known))}."
            )


def _fixed(make: Callable[..., Statistic], **fixed: Any) -> Callable[..., Statistic]:  # noqa: ANN401
    return lambda **rest: make(**fixed, **rest)


def _excluded(missing: str) -> str:
    if missing not in ("auto", "exclude"):
        raise ParameterError(
            f"missing must be 'exclude' with unit= or by=, got {missing!r}: how many rows are "
            f"left, or are in a group, is private. Leave it out."
        )
    return "exclude"


def _require_one_promise(plans: Sequence[Plan]) -> None:
    """Refuse promises between different neighbours: their epsilons do not add up."""
    for name in ("relation", "rows"):
        found = list(dict.fromkeys(getattr(plan.statistic, name) for plan in plans))
        if len(found) > 1:
            words = " and ".join(str(getattr(value, "value", value)) for value in found)
            raise ParameterError(
                f"{name} must be one for all plans, got {words}. "
                f"Plan all of them with the same {name}, for only then do epsilons add up."
            )


@dataclass(frozen=True, slots=True)
class _Risk:
    """A statistic whose error is asked at another risk."""

    statistic: Statistic
    beta: Fraction

    def error(self, beta: Number, *, n: int | None) -> float:
        del beta
        return self.statistic.error(self.beta, n=n)


class Planner:
    """The functions of this module, with some parameters fixed: those of a session.

    Parameters
    ----------
    left
        The epsilon that is left, which a plan without epsilon and error means.
    fixed
        Parameters of every statistic, as the relation.

    Examples
    --------
    >>> print(Planner(left=Fraction(2), relation="substitute").count())
    statistic  epsilon  error (95 %)
        count        2             1
    by    count, discrete Laplace noise
    left  epsilon 2
    """

    def __init__(self, left: Fraction | None = None, **fixed: Any) -> None:  # noqa: ANN401
        self._left, self._fixed = left, fixed

    def count(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.count`; the parameters of every function here.

        Parameters
        ----------
        n
            The public number of records (in each group): needed where the error depends on it.
        epsilon, error
            One of the two.
        confidence
            The probability with which the error holds, 0.95 if left out.
        parameters
            The rest, as in the function of the same name: bounds, step, relation, rows, unit, by,
            keys, ...

        Examples
        --------
        >>> from sourdine import plan
        >>> plan.count(epsilon=1).error
        3.0
        >>> float(plan.count(error=10).epsilon)
        0.2844
        """
        return self._plan("count", parameters)

    def sum(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.sum`; the parameters are those of `count`, with bounds."""
        return self._plan("sum", parameters)

    def mean(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.mean`; the parameters are those of `count`, with bounds.

        Examples
        --------
        >>> from sourdine import plan
        >>> salaries = {"n": 100_000, "bounds": (0, 500_000), "step": 1}
        >>> float(plan.mean(error=100, relation="substitute", **salaries).epsilon)
        0.1498
        """
        return self._plan("mean", parameters)

    def variance(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.variance`; the parameters are those of `count`, with bounds."""
        return self._plan("variance", parameters)

    def proportion(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.proportion`; the parameters are those of `count`."""
        return self._plan("proportion", parameters)

    def histogram(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.histogram`: the largest error of its bins; see `count`."""
        return self._plan("histogram", parameters)

    def quantiles(self, q: Any = None, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.quantiles`: the largest error of the ranks, as a part of n."""
        return self._plan("quantiles", {"q": q, **parameters})

    def quantile(self, q: Number = Fraction(1, 2), **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.quantile`."""
        return self._plan("quantiles", {"q": q, **parameters})

    def median(self, **parameters: Any) -> Plan:  # noqa: ANN401
        """Plan `sourdine.median`."""
        return self._plan("quantiles", {"q": Fraction(1, 2), **parameters})

    def together(
        self,
        plans: Iterable[Plan | Statistic],
        *,
        epsilon: Number | None = None,
        n: int | None = None,
    ) -> Plans:
        """Share one total among several statistics.

        Parameters
        ----------
        plans
            Plans, each with the error it is wanted with; or statistics, wanted with the error that
            they have.
        epsilon
            The total. Without it (and outside a session) each keeps its epsilon, and the sum is
            the answer. With it all errors are the same multiple of what was wanted, the smallest
            that the total allows; each share is rounded down to four digits.
        n
            The public number of records, for statistics.

        Examples
        --------
        >>> from sourdine import plan
        >>> wanted = [plan.count(error=10), plan.sum(bounds=(0, 100), step=1, error=1000)]
        >>> [float(p.epsilon) for p in plan.together(wanted)]
        [0.2844, 0.2995]
        >>> [float(p.epsilon) for p in plan.together(wanted, epsilon=2)]
        [0.9741, 1.025]
        """
        listed = tuple(self._as_plan(plan, n) for plan in plans)
        if not listed:
            raise ParameterError(
                "plans must hold at least one, got none. Type plan.count(error=5)."
            )
        _require_one_promise(listed)
        wanted = tuple(plan.error if plan.target is None else plan.target for plan in listed)
        total = self._left if epsilon is None else positive(epsilon, "epsilon")
        if total is None:
            return Plans(plans=listed, wanted=wanted)
        shares = balanced(total, listed, wanted)
        shared = [
            replace(plan, statistic=plan.statistic_at(share))
            for plan, share in zip(listed, shares, strict=True)
        ]
        return Plans(plans=tuple(shared), wanted=wanted)

    def _as_plan(self, given: object, n: int | None) -> Plan:
        if isinstance(given, Plan):
            return given
        if isinstance(given, central.Statistic):
            return Plan(statistic=given, n=n, left=self._left)
        raise ParameterTypeError(
            f"plans must be plans or statistics, got something of type {type(given).__name__}. "
            f"Type a list, as [plan.count(error=5)]."
        )

    def _plan(self, kind: str, parameters: Mapping[str, Any]) -> Plan:
        given = {**self._fixed, **{k: v for k, v in parameters.items() if v is not None}}
        beta = 1 - number(given.pop("confidence", 1 - RISK), "confidence", above=0, most=1)
        if not beta:
            raise ParameterError("confidence must be below 1, got 1. Type confidence=0.95.")
        n = integer(given["n"], "n", least=1) if "n" in given else None
        if self._left and "epsilon" not in given and "error" not in given:
            given["epsilon"] = self._left
        make, rest = _read(kind, given)
        target = None
        if "error" in given and "epsilon" not in given:
            error = rest.pop("error")

            def at(epsilon: Fraction) -> Any:  # noqa: ANN401
                return _Risk(central.build(make, epsilon=epsilon, **rest), beta)

            rest["epsilon"] = central.epsilon_for(at, error, n=n)
            target = float(positive(error, "error"))
        planned = central.build(make, **rest)
        return Plan(statistic=planned, n=n, confidence=1 - beta, target=target, left=self._left)
