"""What a page says by itself, in several languages; and how sure anybody can become."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg
from sourdine.survey.scripts import source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

__all__ = ["languages", "meaning", "read_words", "said", "sure", "words"]

PLACE = re.compile(r"\{(\w+)\}")
"""Where a page puts a number or a name."""
FIRST = "en"
"""The language whose words say which there are."""
FORMER = {"results_ahead", "results_now"}
"""Words of a first version of pages: a survey that was frozen with them keeps them."""
ADDED = {
    *("helps", "needed", "results_accuracy", "results_answered", "results_expected"),
    *("results_of_all", "results_points"),
}
"""Words that such a survey does not have."""


@lru_cache(1)
def languages() -> tuple[str, ...]:
    """Return the languages that a page speaks without help.

    Examples
    --------
    >>> languages()
    ('ar', 'de', 'en', 'es', 'fr')
    """
    folder = files("sourdine.survey").joinpath("web", "words")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


@lru_cache(32)
def words(language: str) -> Mapping[str, str]:
    """Return the words of a language that `languages` lists."""
    return MappingProxyType(tomllib.loads(source(f"words/{language}.toml")))


def read_words(language: str, given: Mapping[str, object]) -> Mapping[str, str]:
    """Return the words of a language that a survey brings along, or say which are wrong.

    Parameters
    ----------
    language
        Its tag, such as ``"sw"``.
    given
        A text for each of the words of English, with the same places in braces.
    """
    what, known = f"words.{language}", dict(words(FIRST))
    if given.keys() >= FORMER:
        known = {key: text for key, text in known.items() if key not in ADDED}
        known |= {key: str(given[key]) for key in FORMER}
    for key in {*known, *given}:
        text = given.get(key)
        if key not in known or not isinstance(text, str) or not text.strip():
            hint = f"Take it out: no page says {key!r}." if key not in known else f"Add {key!r}."
            raise ParameterError(what, "hold every word of a page", repr(key), hint)
        if set(PLACE.findall(text)) != set(PLACE.findall(known[key])):
            places = ", ".join(PLACE.findall(known[key])) or "none"
            hint = f"The places in braces are: {places}."
            raise ParameterError(f"{what}.{key}", "name what English names", "others", hint)
    return MappingProxyType({key: str(given[key]) for key in known})


def said(language: str, own: Mapping[str, str]) -> Mapping[str, str]:
    """Return all words that a page says: those that a survey froze, and those added since."""
    return {**words(language if language in languages() else FIRST), **own}


def sure(epsilon: Fraction) -> str:
    r"""Return how sure anybody can become of a yes or no, in per cent, rounded up.

    Who took both for equally likely, and sees what a person sends, believes either with at most

    .. math:: \frac{e^\varepsilon}{1 + e^\varepsilon},

    for the odds change by a factor of :math:`e^\varepsilon` at most. It is below 100, so it is
    written with as many decimals as show that. *Checked by* ``test_no_sentence_claims_too_much``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [sure(Fraction(epsilon)) for epsilon in ("0.1", 1, 4, 8)]
    ['53', '74', '99', '99.97']
    """
    most = 1 / (1 + exp_neg(epsilon).below(128))
    places = 0
    while (up := ceil(most * 100 * 10**places)) >= 100 * 10**places:
        places += 1
    return f"{up / 10**places:.{places}f}"


def meaning(epsilon: Fraction) -> str:
    """Return what an epsilon means to who answers, in a sentence for who asks.

    Examples
    --------
    >>> from fractions import Fraction
    >>> meaning(Fraction(1))[:56]
    'nobody who sees a record can be more than 74 % sure of a'
    """
    return (
        f"nobody who sees a record can be more than {sure(epsilon)} % sure of a yes or no, if both "
        "seemed equally likely before"
    )
