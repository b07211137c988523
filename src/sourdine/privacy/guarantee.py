"""Guarantees: epsilon, delta and the neighbouring relation, and how they are printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, exp_neg, fraction, given, integer, probability

if TYPE_CHECKING:
    from sourdine.exact import Number


# ---- Printing numbers, rounded against the user --------------------------------------------------


def shown(x: Fraction, *, up: bool = True) -> str:
    """Return ``x`` to six digits, rounded up (or down).

    Examples
    --------
    >>> shown(Fraction(2, 3)), shown(Fraction(2, 3), up=False), shown(Fraction(1, 10**6))
    ('0.666667', '0.666666', '1e-06')
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    digits = Context(prec=6, rounding=rounding).divide(Decimal(x.numerator), Decimal(x.denominator))
    within_floats = digits == 0 or -300 < digits.adjusted() < 300
    return f"{float(digits):g}" if within_floats else str(digits.normalize())


def percent(share: Fraction, *, up: bool = False) -> str:
    """Return a share in percent, to two decimals, rounded down (or up).

    Examples
    --------
    >>> percent(Fraction(2, 3)), percent(Fraction(2, 3), up=True), percent(Fraction(1))
    ('66.66%', '66.67%', '100%')
    """
    rounded = ceil(share * 10**4) if up else floor(share * 10**4)
    return f"{rounded / 100:g}%"


def typed(x: Fraction) -> str:
    """Return ``x`` as Python code: the decimal with that value, where there is one.

    Examples
    --------
    >>> typed(Fraction(1, 10)), typed(Fraction(2)), typed(Fraction(1, 3))
    ('0.1', '2', 'Fraction(1, 3)')
    """
    if x.denominator == 1:
        return repr(x.numerator)
    decimal = repr(x.numerator / x.denominator).replace("e-0", "e-")
    return decimal if Fraction(decimal) == x else repr(x)


# ---- Neighbouring relations ----------------------------------------------------------------------


class Relation(Enum):
    """What may differ between two inputs that a guarantee keeps indistinguishable.

    An epsilon has a meaning only for a relation: the cells of a histogram move by 1 in total when a
    record is added or removed, and by 2 when one is replaced.

    Examples
    --------
    >>> Relation.SUBSTITUTE.description
    'one record replaced'
    """

    SUBSTITUTE = "substitute"
    """One record takes another value; the number of records is fixed and public."""
    ADD_REMOVE = "add_remove"
    """One record is present or absent; the number of records is private."""
    LOCAL = "local"
    """One person's whole input takes any other value."""
    ALIKE = "alike"
    """One person's answers of several rounds take other values that change in the same rounds."""

    @property
    def description(self) -> str:
        """The relation in plain words, to be printed after an epsilon."""
        return self.describe("record")

    def describe(self, whom: str) -> str:
        """Return the relation in plain words, with another noun in place of "record".

        Examples
        --------
        >>> Relation.ADD_REMOVE.describe("patient with all their rows")
        'one patient with all their rows added or removed'
        """
        return _DESCRIPTIONS[self].format(whom=whom)

    @staticmethod
    def read(x: object, name: str = "relation") -> Relation:
        """Return a relation, given itself or its name.

        Examples
        --------
        >>> Relation.read("local") is LOCAL
        True
        >>> Relation.read("removed")
        Traceback (most recent call last):
        sourdine.errors.ParameterError: relation must be 'substitute', 'add_remove' or 'local', got 'removed'. Use relation='add_remove'.
        """  # noqa: E501
        if isinstance(x, Relation):
            return x
        hint = f"Use {{{name}}}."
        if not isinstance(x, str):
            must = "be a Relation or its name"
            raise ParameterTypeError(name, must, given(x), hint, **{name: "add_remove"})
        if x not in _NAMES:
            must = "be 'substitute', 'add_remove' or 'local'"
            raise ParameterError(name, must, given(x), hint, **{name: "add_remove"})
        return _NAMES[x]


def protected(unit: str | None, rows: int) -> str:
    """Return the noun that replaces "record" where a person has several.

    Examples
    --------
    >>> protected(None, 1), protected(None, 3), protected("patient", 3)
    ('record', 'person with at most 3 records', 'patient with all their rows')
    """
    if unit is not None:
        return f"{unit} with all their rows"
    return "record" if rows == 1 else f"person with at most {rows} records"


SUBSTITUTE = Relation.SUBSTITUTE
ADD_REMOVE = Relation.ADD_REMOVE
LOCAL = Relation.LOCAL
ALIKE = Relation.ALIKE

_DESCRIPTIONS = {
    SUBSTITUTE: "one {whom} replaced",
    ADD_REMOVE: "one {whom} added or removed",
    LOCAL: "any two inputs of one person",
    ALIKE: "any two histories of one person that change alike",
}

_NAMES = {relation.value: relation for relation in Relation}


# ---- Guarantees ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False)
class Guarantee:
    r"""A computation :math:`M` is :math:`(\varepsilon, \delta)`-differentially private.

    .. math:: \Pr[M(x) \in S] \le e^\varepsilon \Pr[M(x') \in S] + \delta

    for every set :math:`S` of outputs and all neighbours :math:`x, x'` of the relation [1]_.

    Parameters
    ----------
    epsilon
        The privacy loss, 0 or more. A float means the decimal it prints, and is kept exactly.
    delta
        From 0 to 1; 0 is pure differential privacy.
    relation
        Which inputs are neighbours.

    Notes
    -----
    *Claim*: nothing is rounded on the way in. *Checked by* ``test_ten_tenths_are_one``.
    *Claim*: printing never shows less than is spent. *Checked by* ``test_shown_rounds_up``.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private
       data analysis", TCC 2006.

    Examples
    --------
    >>> print(Guarantee(1, 1e-6))
    epsilon 1, delta 1e-06, one record added or removed
    >>> Guarantee(0.1).epsilon
    Fraction(1, 10)
    >>> Guarantee(0.1, relation="local")
    Guarantee(0.1, relation='local')
    >>> print(Guarantee.none(SUBSTITUTE))
    NOT PRIVATE (epsilon infinite)
    """

    epsilon: Fraction | float
    delta: Fraction
    relation: Relation

    def __init__(
        self, epsilon: Number, delta: Number = 0, relation: Relation | str = ADD_REMOVE
    ) -> None:
        object.__setattr__(self, "epsilon", at_least(epsilon, "epsilon", 0))
        object.__setattr__(self, "delta", probability(delta, "delta", example=1e-6))
        object.__setattr__(self, "relation", Relation.read(relation))

    @classmethod
    def none(cls, relation: Relation | str = ADD_REMOVE) -> Guarantee:
        """Return the empty guarantee, that of a draw from a seeded source: epsilon is infinite."""
        empty = cls(0, 1, relation)
        object.__setattr__(empty, "epsilon", math.inf)
        return empty

    @staticmethod
    def read(
        x: object, name: str = "guarantee", relation: Relation | str = ADD_REMOVE
    ) -> Guarantee:
        """Return ``x`` if it is a guarantee; the hint of an error is under ``relation``."""
        if not isinstance(x, Guarantee):
            example = Guarantee(1, relation=relation)
            hint = f"Use {{{name}}}."
            raise ParameterTypeError(name, "be a Guarantee", given(x), hint, **{name: example})
        return x

    @property
    def is_finite(self) -> bool:
        """Whether epsilon is finite."""
        return isinstance(self.epsilon, Fraction)

    @property
    def is_private(self) -> bool:
        """Whether there is any guarantee: epsilon is finite and delta below 1."""
        return self.is_finite and self.delta < 1

    @property
    def is_pure(self) -> bool:
        """Whether epsilon is finite and delta is 0."""
        return self.is_finite and self.delta == 0

    def exact_epsilon(self) -> Fraction:
        """Return epsilon, or raise if it is infinite.

        Examples
        --------
        >>> Guarantee.none().exact_epsilon()
        Traceback (most recent call last):
        sourdine.errors.ParameterError: epsilon must be finite, got NOT PRIVATE (epsilon infinite). Draw from the system's source, not from a seeded one.
        """  # noqa: E501
        if isinstance(self.epsilon, Fraction):
            return self.epsilon
        raise ParameterError(
            "epsilon",
            "be finite",
            str(self),
            "Draw from the system's source, not from a seeded one.",
        )

    def covers(self, other: Guarantee) -> bool:
        """Whether this guarantee implies the other: same relation, no more epsilon, no more delta.

        Examples
        --------
        >>> Guarantee(1).covers(Guarantee(2, 1e-6)), Guarantee(2).covers(Guarantee(1, 1e-6))
        (True, False)
        """
        return (
            self.relation is other.relation
            and self.epsilon <= other.epsilon
            and self.delta <= other.delta
        )

    def group(self, size: int) -> Guarantee:
        r"""Return what holds between inputs ``size`` steps of the relation apart.

        .. math:: \left(k\varepsilon,\ \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\right)

        with delta rounded up and at most 1 (C. Dwork, A. Roth, "The algorithmic foundations of
        differential privacy", 2014, theorem 2.2; the sum :math:`\sum_{i<k} e^{i\varepsilon}` in
        place of their :math:`k e^{(k-1)\varepsilon}`). *Checked by* ``test_group_rounds_up``.

        Examples
        --------
        >>> print(Guarantee(0.5).group(3))
        epsilon 1.5, one record added or removed
        """
        k = integer(size, "size", least=1)
        if not isinstance(self.epsilon, Fraction):
            return self
        return Guarantee(k * self.epsilon, _grown(self.delta, self.epsilon, k), self.relation)

    def under(self, relation: Relation | str) -> Guarantee:
        r"""Return what this guarantee is worth under another relation.

        To replace a record is to remove it and add another, so :math:`(\varepsilon, \delta)` under
        ADD_REMOVE is :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)` under SUBSTITUTE. No other
        change of relation follows from the guarantee alone. *Checked by* ``test_under``.

        Examples
        --------
        >>> print(Guarantee(1, relation=ADD_REMOVE).under(SUBSTITUTE))
        epsilon 2, one record replaced
        """
        wanted = Relation.read(relation)
        if wanted is self.relation:
            return self
        if (self.relation, wanted) == (ADD_REMOVE, SUBSTITUTE):
            twice = self.group(2)
            if not isinstance(twice.epsilon, Fraction):
                return Guarantee.none(wanted)
            return Guarantee(twice.epsilon, twice.delta, wanted)
        raise ParameterError(
            "relation",
            f"be {_reachable(self.relation)}",
            wanted.name,
            f"A guarantee for {self.relation.description} does not bound "
            f"{wanted.description}. Ask the mechanism for its guarantee under "
            f"{wanted.name}.",
        )

    def to_dict(self) -> dict[str, str]:
        """Return strings for JSON; the numbers are exact, such as ``"1/3"`` or ``"inf"``.

        Denominators of more than 600 digits are rounded up to that many.

        Examples
        --------
        >>> Guarantee(0.1).to_dict()
        {'epsilon': '1/10', 'delta': '0', 'relation': 'add_remove'}
        """
        return {
            "epsilon": str(_short(self.epsilon)),
            "delta": str(_short(self.delta)),
            "relation": self.relation.value,
        }

    @property
    def decimal(self) -> dict[str, float | None]:
        """The nearest floats, where exact numbers are not needed; None for no guarantee.

        Examples
        --------
        >>> Guarantee(0.05).decimal
        {'epsilon': 0.05, 'delta': 0.0}
        """
        epsilon = float(self.epsilon) if self.is_finite else None
        return {"epsilon": epsilon, "delta": float(self.delta)}

    @classmethod
    def from_dict(cls, record: dict[str, str]) -> Guarantee:
        """Return the guarantee that `to_dict` wrote."""
        relation = Relation.read(record["relation"])
        if record["epsilon"] == "inf":
            return cls.none(relation)
        return cls(fraction(record["epsilon"]), fraction(record["delta"]), relation)

    def __repr__(self) -> str:
        relation = self.relation.value
        if not isinstance(self.epsilon, Fraction):
            return f"Guarantee.none({relation!r})"
        parts = [typed(self.epsilon)]
        if self.delta:
            parts.append(typed(self.delta))
        if self.relation is not ADD_REMOVE:
            parts.append(f"relation={relation!r}")
        return f"Guarantee({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return f"<span>{self}</span>"

    def __str__(self) -> str:
        return self.told()

    def told(self, whom: str = "record") -> str:
        """Return the guarantee in words, with another noun in place of "record".

        Examples
        --------
        >>> Guarantee(1, relation=SUBSTITUTE).told("patient with all their rows")
        'epsilon 1, one patient with all their rows replaced'
        """
        if not isinstance(self.epsilon, Fraction):
            return "NOT PRIVATE (epsilon infinite)"
        delta = f", delta {shown(self.delta)}" if self.delta else ""
        text = f"epsilon {shown(self.epsilon)}{delta}, {self.relation.describe(whom)}"
        return text if self.is_private else f"NOT PRIVATE ({text})"


def _short(x: Fraction | float) -> Fraction | float:
    """Return ``x``, rounded up onto a grid of 2**-2048 if its denominator is longer than that."""
    if isinstance(x, Fraction) and x.denominator >> 2048:
        return Fraction(math.ceil(x * (1 << 2048)), 1 << 2048)
    return x


def _reachable(relation: Relation) -> str:
    return "ADD_REMOVE or SUBSTITUTE" if relation is ADD_REMOVE else relation.name


def _grown(delta: Fraction, epsilon: Fraction, k: int) -> Fraction:
    r"""Return :math:`\delta \sum_{i<k} e^{i\varepsilon}`, rounded up, at most 1."""
    if k == 1 or delta == 0:
        return delta
    if epsilon == 0:
        return min(k * delta, Fraction(1))
    if (k - 1) * epsilon >= math.ceil(1 / delta).bit_length():  # the last term alone exceeds 1
        return Fraction(1)
    growth = (1 - exp_neg(k * epsilon)) / (1 - exp_neg(epsilon)) / exp_neg((k - 1) * epsilon)
    return min((delta * growth).above(), Fraction(1))
