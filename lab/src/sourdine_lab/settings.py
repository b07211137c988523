"""Settings of experiments: what a person may change, how it is typed, what it means.

A setting is declared once, with the document's value as its default. It is typed as text
(``--set sizes=100:10000:100``) or given as a Python value, and stored as JSON knows it, because a
part of an experiment is identified by its settings.

==============  ==============================================================================
kind            typed as
==============  ==============================================================================
`number`        ``0.5``
`integer`       ``200``
`numbers`       ``0.1,0.5,1``
`bounds`        ``0,1``, the lower first
`orders`        ``0.25,0.5``, of quantiles, ascending
`integers`      ``100,200`` or ``100:10000:100``, which includes both ends
`word`          one of a few words
`words`         some of them, with commas in between
`text`          anything, such as the name of a column
`law`           ``beta(2,5)``, a law that data are drawn from; `DataLaw` lists them
==============  ==============================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DataLaw", "Kind", "Setting", "bounds", "changed", "integer", "integers", "law", "number",
    "numbers", "orders", "spaced", "text", "values", "word", "words", "written",
]  # fmt: skip

MOST = 100_000
"""Entries of a list that is typed as a range."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a setting is read.

    Parameters
    ----------
    must
        What must hold, in the words of an error: ``be a number above 0``.
    read
        From text or a Python value to the stored value. Raises `ValueError` for anything else.
    """

    must: str
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One constant of an experiment.

    Parameters
    ----------
    name
        As a person types it.
    default
        The document's value.
    kind
        How it is read.
    meaning
        A line.
    quick
        The value in a quick run; the default if None.
    split
        The setting only says which parts there are, and each part holds what it takes from it. The
        seed of a part does not depend on the others then.
    """

    name: str
    default: Any
    kind: Kind
    meaning: str
    quick: Any = None
    split: bool = False

    def read(self, given: object) -> Any:
        """Return a value that was typed or given, as it is stored.

        Raises
        ------
        ParameterError
            The value is not of the setting's kind.
        """
        try:
            return self.kind.read(given)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"{self.name} must {self.kind.must}, got {given}. "
                f"Use {self.name}={written(self.default)}."
            ) from None


def values(settings: Iterable[Setting], *, quick: bool = False) -> dict[str, Any]:
    """Return the default of each setting, or its value in a quick run."""
    return {
        one.name: one.quick if quick and one.quick is not None else one.default for one in settings
    }


def changed(settings: Iterable[Setting], given: Mapping[str, object], of: str) -> dict[str, Any]:
    """Read what was given for some settings of an experiment.

    Raises
    ------
    ParameterError
        There is no such setting, or the value is not of its kind.
    """
    known = {one.name: one for one in settings}
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(known)}."
            raise ParameterError(f"{of} has no setting {name!r}. {hint}")
    return {name: known[name].read(value) for name, value in given.items()}


def spaced(low: float, high: float, count: int, *, digits: int = 4) -> list[float]:
    """Return numbers from ``low`` to ``high``, evenly spaced by their logarithms and rounded.

    Examples
    --------
    >>> spaced(0.1, 10, 3)
    [0.1, 1.0, 10.0]
    """
    return [round(float(x), digits) for x in np.geomspace(low, high, count)]


def written(value: Any) -> str:
    """Return a value as it is typed.

    Examples
    --------
    >>> written([100, 200, 300, 400]), written([0.1, 1]), written("beta(2, 5)")
    ('100:400:100', '0.1,1', 'beta(2, 5)')
    """
    if isinstance(value, (list, tuple)):
        steps = {b - a for a, b in pairwise(value)} if _whole(value) else set()
        if len(value) > 3 and len(steps) == 1 and steps.pop() > 0:
            return f"{value[0]}:{value[-1]}:{value[1] - value[0]}"
        return ",".join(map(written, value))
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value!r}"
    return str(value)


def _whole(entries: Iterable[object]) -> bool:
    return all(type(entry) is int for entry in entries)


# ---- Kinds ---------------------------------------------------------------------------------------


def number(*, above: float | None = None, least: float | None = None, most: float | None = None,
           below: float | None = None) -> Kind:  # fmt: skip
    """Return the kind of a number.

    Examples
    --------
    >>> Setting("epsilon", 1, number(above=0), "the privacy loss").read("0.1")
    0.1
    """

    def read(given: Any) -> float | int:
        if isinstance(given, bool):
            raise TypeError
        value = _number(given)
        if (
            not isfinite(value)
            or (above is not None and value <= above)
            or (least is not None and value < least)
            or (most is not None and value > most)
            or (below is not None and value >= below)
        ):
            raise ValueError
        return value

    return Kind(f"be a number{_ends(above, least, most, below)}", read)


def integer(*, least: int | None = None, most: int | None = None) -> Kind:
    """Return the kind of a whole number."""

    def read(given: Any) -> int:
        value = _number(given)
        if isinstance(given, bool) or value != int(value):
            raise ValueError
        if (least is not None and value < least) or (most is not None and value > most):
            raise ValueError
        return int(value)

    return Kind(f"be a whole number{_ends(None, least, most, None)}", read)


def numbers(*, count: int | None = None, **ends: float | None) -> Kind:
    """Return the kind of a list of numbers, of a fixed length if ``count`` is given."""
    one = number(**ends)
    return Kind(f"{_several(one, count)} with commas in between", _list(one, count))


def bounds(*, whole: bool = False, **ends: Any) -> Kind:
    """Return the kind of two numbers, the lower first.

    Examples
    --------
    >>> Setting("bounds", [0, 1], bounds(), "public bounds").read("-5,5")
    [-5, 5]
    """
    both = (integers if whole else numbers)(count=2, **ends)
    return Kind(f"{both.must}, the lower first", _ascending(both))


def orders() -> Kind:
    """Return the kind of orders of quantiles: ascending, above 0 and below 1."""
    both = numbers(above=0, below=1)
    return Kind(f"{both.must}, ascending", _ascending(both))


def _ascending(kind: Kind) -> Callable[[Any], list[Any]]:
    def read(given: Any) -> list[Any]:
        found: list[Any] = kind.read(given)
        if any(a >= b for a, b in pairwise(found)):
            raise ValueError(given)
        return found

    return read


def integers(*, count: int | None = None, **ends: int | None) -> Kind:
    """Return the kind of a list of whole numbers.

    Examples
    --------
    >>> Setting("sizes", [100], integers(least=1), "records").read("100:500:200")
    [100, 300, 500]
    """
    one = integer(**ends)
    listed = _list(one, count)

    def read(given: Any) -> list[Any]:
        if isinstance(given, str) and ":" in given:
            first, last, *rest = (int(part) for part in given.split(":"))
            step = rest[0] if rest else 1
            if len(rest) > 1 or step < 1 or (last - first) // step >= MOST:
                raise ValueError
            given = range(first, last + 1, step)
        return listed(given)

    return Kind(f"{_several(one, count)} with commas in between, or first:last:step", read)


def word(*allowed: str) -> Kind:
    """Return the kind of one of a few words."""

    def read(given: Any) -> str:
        if given not in allowed:
            raise ValueError
        return str(given)

    return Kind(f"be {' or '.join(allowed)}", read)


def words(*allowed: str) -> Kind:
    """Return the kind of some of a few words."""
    listed = _list(word(*allowed), None)
    longest = sorted(map(re.escape, allowed), key=len, reverse=True)
    start = re.compile(rf"\s*({'|'.join(longest)})\s*(?:,|$)")

    def read(given: Any) -> list[Any]:
        if not isinstance(given, str):
            return listed(given)
        found, at = [], 0
        while at < len(given):  # a word may itself have a comma
            match = start.match(given, at)
            if match is None:
                raise ValueError(given)
            found.append(match[1])
            at = match.end()
        return listed(found)

    return Kind(f"be some of {'; '.join(allowed)}, with commas in between", read)


def text(must: str) -> Kind:
    """Return the kind of any text; ``must`` says what it is, as ``be the name of a column``."""

    def read(given: Any) -> str:
        if not isinstance(given, str):
            raise TypeError
        return given

    return Kind(must, read)


def law(low: float | None = None, high: float | None = None) -> Kind:
    """Return the kind of a law that data are drawn from; its text is stored.

    If ``low`` and ``high`` are given, the law is one on that range.
    """

    def read(given: Any) -> str:
        found = DataLaw.read(str(given))
        if low is not None and not (low <= found.range[0] and found.range[1] <= (high or low)):
            raise ValueError
        return str(found)

    within = "" if low is None else f" on [{written(low)}, {written(high)}]"
    return Kind(f"be a law{within}, such as {', '.join(DataLaw.forms())}", read)


def _number(given: Any) -> float | int:
    if isinstance(given, str):
        return int(given) if re.fullmatch(r"\s*[+-]?\d+\s*", given) else float(given)
    value: float | int = given.item() if isinstance(given, np.generic) else given + 0
    return value


def _list(one: Kind, count: int | None) -> Callable[[Any], list[Any]]:
    def read(given: Any) -> list[Any]:
        parts = given.split(",") if isinstance(given, str) else given
        if isinstance(parts, (int, float)):
            parts = [parts]
        found = [one.read(part.strip() if isinstance(part, str) else part) for part in parts]
        if not found or (count is not None and len(found) != count):
            raise ValueError
        return found

    return read


def _several(one: Kind, count: int | None) -> str:
    what = one.must.removeprefix("be a ").replace("number", "numbers", 1)
    return f"be {count or 'some'} {what}" if count else f"be {what}"


def _ends(above: float | None, least: float | None, most: float | None, below: float | None) -> str:
    said = [
        f"{name} {written(end)}"
        for name, end in (("above", above), ("at least", least), ("at most", most),
                          ("below", below))
        if end is not None
    ]  # fmt: skip
    return f" {' and '.join(said)}" if said else ""


# ---- Laws that data are drawn from ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DataLaw:
    """A law of one number, named as in ``beta(2,5)``.

    =========================  =====================================================
    ``uniform(low,high)``      uniform
    ``normal(mean,sd)``        normal; the second number is the standard deviation
    ``beta(a,b)``              beta, on [0, 1]
    ``triangular(a,c,b)``      triangular on [a, b] with its mode at c
    ``exponential(mean)``      exponential
    ``lognormal(mean,sd)``     the exponential of a normal
    =========================  =====================================================

    Examples
    --------
    >>> law = DataLaw.read("beta(2,5)")
    >>> str(law), law.range, round(float(law.quantile(0.5)), 4)
    ('beta(2,5)', (0.0, 1.0), 0.2644)
    >>> law.draw(np.random.default_rng(1), 2).shape
    (2,)
    """

    name: str
    parameters: tuple[float, ...]

    @classmethod
    def read(cls, given: str) -> DataLaw:
        """Read a law.

        Raises
        ------
        ValueError
            There is no such law, or its parameters are not those of one.
        """
        found = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", given)
        if found is None or found[1].lower() not in _LAWS:
            raise ValueError(given)
        made = cls(found[1].lower(), tuple(float(part) for part in found[2].split(",")))
        form = _LAWS[made.name]
        if len(made.parameters) != form.form.count(",") + 1 or not all(
            isfinite(one) for one in made.parameters
        ):
            raise ValueError(given)
        if not form.fits(*made.parameters):
            raise ValueError(given)
        return made

    @staticmethod
    def forms() -> tuple[str, ...]:
        """Return how each law is typed."""
        return tuple(one.form for one in _LAWS.values())

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(written, self.parameters))})"

    def draw(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> NDArray[np.float64]:
        """Draw independent numbers."""
        return np.asarray(_LAWS[self.name].draw(rng, *self.parameters, size))

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles."""
        return np.asarray(self._frozen().ppf(q))

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the distribution function."""
        return np.asarray(self._frozen().cdf(x))

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self._frozen().mean())

    @property
    def range(self) -> tuple[float, float]:
        """Where the law lies; infinite ends where it has none."""
        if self.name in {"uniform", "triangular"}:
            return self.parameters[0], self.parameters[-1]
        return (0.0, 1.0) if self.name == "beta" else (-np.inf, np.inf)

    def _frozen(self) -> Any:
        from scipy import stats

        a, *rest = self.parameters
        return {
            "uniform": lambda: stats.uniform(a, rest[0] - a),
            "normal": lambda: stats.norm(a, rest[0]),
            "beta": lambda: stats.beta(a, rest[0]),
            "triangular": lambda: stats.triang((rest[0] - a) / (rest[1] - a), a, rest[1] - a),
            "exponential": lambda: stats.expon(scale=a),
            "lognormal": lambda: stats.lognorm(rest[0], scale=np.exp(a)),
        }[self.name]()


@dataclass(frozen=True, slots=True)
class _Form:
    form: str
    fits: Callable[..., bool]
    draw: Callable[..., Any]


_LAWS = {
    "uniform": _Form("uniform(low,high)", lambda a, b: a < b, lambda rng, *x: rng.uniform(*x)),
    "normal": _Form("normal(mean,sd)", lambda _, s: s > 0, lambda rng, *x: rng.normal(*x)),
    "beta": _Form("beta(a,b)", lambda a, b: a > 0 and b > 0, lambda rng, *x: rng.beta(*x)),
    "triangular": _Form(
        "triangular(a,c,b)", lambda a, c, b: a <= c <= b and a < b,
        lambda rng, *x: rng.triangular(*x),
    ),
    "exponential": _Form("exponential(mean)", lambda a: a > 0,
                         lambda rng, *x: rng.exponential(*x)),
    "lognormal": _Form("lognormal(mean,sd)", lambda _, s: s > 0,
                       lambda rng, *x: rng.lognormal(*x)),
}  # fmt: skip
