"""From the words of a command line to parameters."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from sourdine.errors import ParameterError

__all__ = ["parameters", "statistic_parameters"]

DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
TOTAL = ("total_epsilon", "total_delta")
NUMBERS = ("step", "epsilon", "error", "delta", "interval", "confidence", *TOTAL)
WHOLE = ("n", "rows")
LISTS = ("keys", "categories")


def parameters(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed as parameters; what was left out is left out."""
    typed = {name: value for name, value in given.items() if value not in (None, False)}
    for name in NUMBERS:
        if name in typed:
            typed[name] = number(typed[name], name)
    for name in WHOLE:
        if name in typed:
            typed[name] = whole(typed[name], name)
    for name in LISTS:
        if name in typed:
            typed[name] = words(typed[name])
    if "bounds" in typed:
        lower, upper = typed["bounds"]
        typed["bounds"] = number(lower, "bounds"), number(upper, "bounds")
    if "bins" in typed:
        typed["bins"] = bins(typed["bins"])
    return typed


def number(text: str, name: str) -> int | Decimal:
    """Return the number that a text spells, exactly."""
    plain = text.replace("_", "").strip()
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        value = Decimal(plain)
    except InvalidOperation:
        raise ParameterError(
            f"{_flag(name)} must be a number, got {text!r}. Type it with a point, as 0.5."
        ) from None
    if not value.is_finite():
        raise ParameterError(f"{_flag(name)} must be finite, got {text!r}. Type a number.")
    return value


def _flag(name: str) -> str:
    return "--total" if name == "total_epsilon" else "--" + name.replace("_", "-")


def whole(text: str, name: str) -> int:
    """Return the whole number that a text spells; ``1e6`` is one."""
    value = number(text, name)
    if value != int(value):
        raise ParameterError(f"--{name} must be a whole number, got {text!r}. Type it, as 1000.")
    return int(value)


def words(text: str) -> list[str]:
    """Return the parts between commas."""
    return [word.strip() for word in text.split(",")]


def bins(text: str) -> int | list[int | Decimal]:
    """Return how many bins, or their edges."""
    parts = words(text)
    return whole(text, "bins") if len(parts) == 1 else [number(part, "bins") for part in parts]


def orders(typed: dict[str, Any]) -> list[Any]:
    """Return the orders of quantiles: exactly one of the three ways to say them."""
    chosen = {name: typed.pop(name) for name in ("q", "deciles", "quartiles") if name in typed}
    if len(chosen) != 1:
        raise ParameterError(
            f"the orders must be said once, got {' and '.join(f'--{n}' for n in chosen) or 'none'}."
            f" Type --deciles, --quartiles, or the orders, as --q 0.1,0.5,0.9."
        )
    if "q" in chosen:
        return sorted(number(part, "q") for part in words(chosen["q"]))
    return list(DECILES if "deciles" in chosen else QUARTILES)


def statistic_parameters(name: str, typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a statistic, as its function calls them."""
    if name == "quantiles":
        typed["q"] = orders(typed)
    if name == "histogram":
        _histogram(typed)
    needs = name in ("sum", "mean", "variance", "quantiles") or isinstance(typed.get("bins"), int)
    if needs and "bounds" not in typed:
        raise ParameterError(BOUNDS)
    return typed


def _histogram(typed: dict[str, Any]) -> None:
    categories = typed.pop("categories", None)
    if (categories is None) == ("bins" not in typed):
        raise ParameterError(
            f"what is counted must be said once, got {'nothing' if categories is None else 'both'}."
            f" Type --bins 10 --bounds 0 100, --bins 0,18,65,120, or --categories yes,no: bins and "
            f"categories are public, so they are never read off the data."
        )
    if categories is not None:
        names = "unknown" if categories == ["unknown"] else categories
        typed["bins" if "by" in typed and names != "unknown" else "keys"] = names


BOUNDS = """--bounds must be two public numbers, got none.

The noise is fitted to the bounds, so that one person's value can hide in it; bounds read off the \
data would give its smallest and largest record away. Choose them before looking, from what \
everybody knows:

  an age                --bounds 0 120
  a share               --bounds 0 1
  a yearly salary       --bounds 0 500000
  a temperature         --bounds -40 50

Values outside count as the nearest bound. Bounds that are twice too wide double the noise; bounds \
that are too narrow move outliers inwards."""
