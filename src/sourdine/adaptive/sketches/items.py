r"""Items as bytes: equal where they are the same item, different where they are not.

A canonical encoding starts with a letter for the kind, so no two kinds ever meet: ``1``, ``1.0``,
``"1"``, ``b"1"`` and ``True`` are five items. NumPy's scalars count as the Python values they hold
(``np.int64(1)`` is ``1``, ``np.str_("a")`` is ``"a"``); dates are refused, since what number they
hold depends on their unit. Floats count by value: ``-0.0`` is
``0.0``, and all NaNs are one item. Text is taken as it is, without Unicode normalisation: a person
who wants ``"é"`` in one form says so before. A tuple is the list of its parts, each with its
length, so ``("ab", "c")`` and ``("a", "bc")`` differ.
"""

from __future__ import annotations

import struct
from math import isnan, nan
from typing import TypeAlias, TypeGuard, Union

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind

__all__ = ["Item", "encoded", "is_whole"]

Item: TypeAlias = Union[int, str, bytes, float, bool, "tuple[Item, ...]", None]


def is_whole(item: object) -> TypeGuard[int]:
    """Return whether an item is a whole number, in Python's or NumPy's dress."""
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def encoded(item: Item) -> bytes:  # noqa: PLR0911 - one return for each kind
    r"""Return the canonical bytes of an item.

    Examples
    --------
    >>> encoded(258), encoded("été"), encoded(None)
    (b'i\x02\x01', b's\xc3\xa9t\xc3\xa9', b'n')
    >>> encoded(0.0) == encoded(-0.0), encoded(1.0) == encoded(1), encoded(np.int8(1)) == encoded(1)
    (True, False, True)
    """
    match item:
        case str():
            return b"s" + item.encode("utf-8", "surrogatepass")
        case bytes() | bytearray() | memoryview():
            return b"b" + bytes(item)
        case bool() | np.bool():
            return b"t" if item else b"f"
        case int() | np.integer():
            whole = int(item)
            return b"i" + whole.to_bytes(whole.bit_length() // 8 + 1, "little", signed=True)
        case float() | np.floating():
            return b"d" + struct.pack("<d", nan if isnan(item) else float(item) + 0.0)
        case None:
            return b"n"
        case tuple():
            parts = [encoded(part) for part in item]
            return b"l" + b"".join(len(p).to_bytes(8, "little") + p for p in parts)
    raise ParameterTypeError(
        "an item",
        "be a number, a text, bytes, None or a tuple of these",
        kind(item),
        "Type keyed.update(repr(item)) for anything else.",
    )
