"""What the lines of a ledger's file say, and whether they add up.

Numbers are exact texts. Format 3 adds to the terms how charges are counted, the order, what prices
may sum to (rounded down) and the reserve; to a charge its parts, its price and what was charged so
far (rounded up). Files of format 2 have none of it: they add epsilons, and stay as they are.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sourdine.append_only import now
from sourdine.errors import BudgetExceededError, SourdineError
from sourdine.exact import integer
from sourdine.privacy import Concentrated, Guarantee, Part
from sourdine.privacy.accounting import Filter, prices, read_parts
from sourdine.privacy.budget import require_finite
from sourdine.question import converters
from sourdine.session.accounts import FilterAccount, SumAccount, under
from sourdine.session.charges import Charge, Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.append_only.chain import Row
    from sourdine.session.accounts import Account

__all__ = [
    "UnreadableError",
    "charge_row",
    "following",
    "read_charge",
    "read_terms",
    "require_sound",
    "terms_row",
]

LONGEST_NUMBER = 10_000
"""Letters of a number that a ledger holds."""
WITH_PARTS = 3
"""The first format whose charges name their parts."""
SLACK = 1e-6
"""How much a declared curve may differ between machines, as a part of delta."""
WRONG = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    SourdineError,
    RecursionError,
)


class UnreadableError(Exception):
    """A line is whole, but says what cannot be."""


def following(  # noqa: PLR0913 - what a line says
    before: Account,
    number: int,
    cost: Guarantee,
    parts: tuple[Part, ...],
    asked: dict[str, str],
    *,
    declared: bool = False,
) -> Charge:
    """Return the line that follows, or refuse it.

    Parameters
    ----------
    before
        The account until now.
    number
        1 for the first line.
    cost, parts
        What the call promises, and what its loss is made of.
    asked
        What was asked, what draws it, and its parameters.
    declared
        Whether it is a line of a batch that is the whole of the total.
    """
    require_finite(cost)
    relation = before.spent.relation
    own = under(cost, parts, relation)
    return Charge(
        number=number,
        when=now(),
        cost=Guarantee.from_dict(cost.under(relation).to_dict()),
        account=before.after_declared(cost)
        if isinstance(before, FilterAccount) and declared
        else before.after(cost, parts),
        parts=own,
        price=before.filter.price_of(own) if isinstance(before, FilterAccount) else None,
        declared=declared,
        **asked,
    )


def terms_row(terms: Terms) -> Row:
    """Return the line of the terms."""
    total = terms.total
    numbers: Row = (
        {"rho": str(total.rho), "relation": total.relation.value}
        if isinstance(total, Concentrated)
        else dict(total.to_dict())
    )
    row: Row = {**numbers, "unit": terms.unit, "rows": terms.rows, "name": terms.name}
    row["account"] = terms.account
    if terms.filter is not None and terms.filter.order is not None:
        row |= {
            "order": str(terms.filter.order),
            "allowance": str(terms.filter.allowance),
            "reserve": str(terms.filter.reserve),
        }
    return row


def read_terms(row: Row) -> Terms:
    """Return the terms that a line says."""
    try:
        return _terms(row)
    except WRONG:
        raise UnreadableError("its terms cannot be read") from None


def _terms(row: Row) -> Terms:
    unit, name = (None if row[key] is None else _text(row[key]) for key in ("unit", "name"))
    whom: dict[str, Any] = {"unit": unit, "name": name, "rows": converters.rows(row["rows"])}
    account = row.get("account", "sum")
    if account == "rho":
        rho = _exact(row["rho"])
        return Terms(total=Concentrated(rho, row["relation"]), filter=Filter.of_rho(rho), **whom)
    total = Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), row["relation"])
    if account == "sum":
        return Terms(total=total, **whom)
    if account != "renyi":
        raise ValueError(account)
    order, reserve = _exact(row["order"]), _exact(row["reserve"])
    allowed = prices.allowance(total.exact_epsilon(), total.delta - reserve, order)
    if not 0 < allowed == _exact(row["allowance"]) or order <= 1:
        raise ValueError(order)
    decides = Filter(total.exact_epsilon(), total.delta, order, allowed, reserve)
    return Terms(total=total, filter=decides, **whom)


def charge_row(charge: Charge, version: int) -> Row:
    """Return the line of a charge in a format."""
    cost, spent = charge.cost.to_dict(), charge.spent.to_dict()
    row: Row = {
        "number": charge.number,
        "time": charge.when,
        "what": charge.what,
        "mechanism": charge.mechanism,
        "parameters": charge.parameters,
        "epsilon": cost["epsilon"],
        "delta": cost["delta"],
        "spent_epsilon": spent["epsilon"],
        "spent_delta": spent["delta"],
    }
    if version < WITH_PARTS:
        return row
    row["parts"] = [part.to_dict() for part in charge.parts]
    if isinstance(charge.account, FilterAccount):
        so_far = charge.account.filter
        row |= {
            "price": str(charge.price),
            "price_so_far": str(so_far.price),
            "sum_so_far": None if so_far.total is None else str(so_far.total),
            "own_delta_so_far": str(so_far.own_delta),
        }
    return {**row, "declared": True} if charge.declared else row


def read_charge(row: Row, terms: Terms) -> Charge:
    """Return the charge that a line says."""
    relation = terms.total.relation.value
    try:
        spent = Guarantee(_exact(row["spent_epsilon"]), _exact(row["spent_delta"]), relation)
        return Charge(
            number=integer(row["number"], "number", least=1),
            when=_moment(row["time"]),
            what=_text(row["what"]),
            mechanism=_text(row["mechanism"]),
            parameters=_object(row["parameters"]),
            cost=Guarantee(_exact(row["epsilon"]), _exact(row["delta"]), relation),
            account=_account(row, terms, spent),
            parts=_parts(row.get("parts", [])),
            price=None if terms.filter is None else _exact(row["price"]),
            declared=row.get("declared") is True,
        )
    except WRONG:
        raise UnreadableError("a number cannot be read") from None


def _account(row: Row, terms: Terms, spent: Guarantee) -> Account:
    start = terms.start
    if isinstance(start, SumAccount):
        return replace(start, spent=spent)
    if not isinstance(start, FilterAccount):
        raise TypeError(start)
    known = row["sum_so_far"]
    so_far = replace(
        start.filter,
        price=_exact(row["price_so_far"]),
        total=None if known is None else _exact(known),
        own_delta=_exact(row["own_delta_so_far"]),
    )
    return FilterAccount(so_far, spent)


def _parts(records: list[dict[str, Any]]) -> tuple[Part, ...]:
    return _parsed(json.dumps(records))


@lru_cache(1024)
def _parsed(records: str) -> tuple[Part, ...]:
    return read_parts(Part.from_dict(record) for record in json.loads(records))


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(text)
    return text


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _object(text: str) -> str:
    """Return a text that is an object of JSON."""
    if not isinstance(json.loads(text), dict):
        raise TypeError(text)
    return text


def _exact(text: str) -> Fraction:
    """Return a number as ledgers write it: digits, or digits over digits, not too many."""
    if len(text) > LONGEST_NUMBER or not re.fullmatch(r"\d+(/\d+)?", text):
        raise ValueError(text)
    return Fraction(text)


def require_sound(terms: Terms, charges: Sequence[Charge]) -> None:
    """Refuse lines whose sums and prices are not those that follow from what they say."""
    account = terms.start
    for i, charge in enumerate(charges, 1):
        asked = {name: getattr(charge, name) for name in ("what", "mechanism", "parameters")}
        whole = charge.declared
        try:
            wanted = following(account, i, charge.cost, charge.parts, asked, declared=whole)
        except BudgetExceededError:
            raise UnreadableError("charges above the total") from None
        if replace(wanted, when=charge.when) != charge:
            raise UnreadableError(f"line {charge.number} does not add up")
        account = charge.account
    batch = [charge for charge in charges if charge.declared]
    if batch and (len(batch) != batch[-1].number or not _is_whole(terms, batch)):
        raise UnreadableError("a declared batch that is not the whole of the total")


def _is_whole(terms: Terms, batch: Sequence[Charge]) -> bool:
    parts = tuple(part for charge in batch for part in charge.parts)
    return isinstance(terms.start, FilterAccount) and _fits_whole(terms.start, parts)


@lru_cache(64)
def _fits_whole(start: FilterAccount, parts: tuple[Part, ...]) -> bool:
    return start.is_whole(parts, SLACK)
