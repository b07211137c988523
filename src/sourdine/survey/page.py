"""A survey as one HTML file: words, scripts, page."""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg
from sourdine.local.table.columns import NO_ANSWER
from sourdine.survey.form import form_for_device

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from sourdine.survey.document import Survey


# ---- The scripts of a page as they stand in it: no comments, no blanks that do nothing -----------


FOR_NODE = "// ---- in Node"
"""Begins the last part of the device."""
QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)""")
"""A text or a template: what stands in a line as it is."""
BLANKS = re.compile(
    r" *(=>|[=!<>]==?|\|\||&&|\?\?|[=<>{}()\[\],;:?*|&]) *|(?<=[\w)\]]) ([-+/]) (?=[\w(\[])"
)
"""Signs around which blanks do nothing; where + and - meet another sign, they stay."""


def source(name: str) -> str:
    """Return a file of the folder ``web``."""
    return files("sourdine.survey").joinpath("web", name).read_text(encoding="utf-8")


def compact(script: str) -> str:
    r"""Return a script without comments, imports, exports, indents and blanks around signs.

    Names and statements stay as they are, so that what is left can be read and compared with its
    source.

    Examples
    --------
    >>> compact('// why\nexport function f(x) {\n  return x === " = " ? x - -1 : 0;\n}\n')
    'function f(x){return x===" = "?x - -1:0;}\n'
    """
    lines = map(str.strip, script.splitlines())
    kept = (line for line in lines if line and not line.startswith(("//", "/**", "import {")))
    text = "".join(_tight(re.sub(r"; // .*$", ";", line)) + "\n" for line in kept)
    return re.sub(r"(?<=[{(,])\n|(?<=[;}])\n(?=\})", "", text)


def _tight(line: str) -> str:
    parts = QUOTED.split(line.removeprefix("export "))
    return "".join(part if i % 2 else BLANKS.sub(r"\1\2", part) for i, part in enumerate(parts))


@lru_cache(4)
def script_of(name: str) -> str:
    """Return a script as a page holds it; the replay of records runs this very text."""
    return compact(source(name).split(FOR_NODE)[0])


# ---- What a page says by itself, in several languages; and how sure anybody can become -----------


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
    """Return the languages that a page speaks without help."""
    folder = files("sourdine.survey").joinpath("web", "words")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


@lru_cache(32)
def words(language: str) -> Mapping[str, str]:
    """Return the words of a language that `languages` lists."""
    return MappingProxyType(tomllib.loads(source(f"words/{language}.toml")))


def read_words(language: str, given: Mapping[str, object]) -> Mapping[str, str]:
    """Return the words of a language that a survey brings along, or say which are wrong.

    There must be a text for each of the words of English, with the same places in braces.
    """
    what, known = f"words.{language}", dict(words(FIRST))
    if given.keys() >= FORMER:
        known = {key: text for key, text in known.items() if key not in ADDED}
        known |= {key: str(given[key]) for key in FORMER}
    for key in {*known, *given}:
        text = given.get(key)
        if key not in known or not isinstance(text, str) or not text.strip():
            hint = f"Remove it: no page uses {key!r}." if key not in known else f"Add {key!r}."
            raise ParameterError(what, "contain every word of a page", repr(key), hint)
        if set(PLACE.findall(text)) != set(PLACE.findall(known[key])):
            places = ", ".join(PLACE.findall(known[key])) or "none"
            hint = f"The placeholders are: {places}."
            raise ParameterError(f"{what}.{key}", "use the same placeholders as English", "", hint)
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
    """Return what an epsilon means for respondents, in one sentence."""
    return (
        f"an observer of a record can be at most {sure(epsilon)}% sure of any yes or no, if both "
        "seemed equally likely before"
    )


# ---- A survey as one HTML file: the same bytes for everybody, so that its SHA-256 can be published
#
# Nothing is loaded from anywhere. The policy in the file's head lets this one script run, by its
# hash, and lets it talk to one address, so a changed letter in the script stops it. The file is
# written as browsers write it back, so the page can compute its own hash
# (``test_the_page_shows_its_own_hash``).


BROKEN = "This page was changed on its way, or cannot run in this browser. Nothing was sent."
RESULTS, ROUND = "results_", "round_"
"""Begin the words that only the page of results says, and those of a survey of several rounds."""
PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style></head>
<body><main><h1>{title}</h1><p>{broken}</p></main>
<script type="application/json" id="form">{form}</script>
<script type="module">{script}</script></body></html>"""


def page(survey: Survey) -> bytes:
    """Return the page of a survey; of several rounds, the survey must be that of one of them."""
    form = form_for_device(survey.schema)
    parts = ("device.mjs", *(["rounds.mjs"] if "rounds" in form else []), "ask.mjs")
    script, style = "\n" + "".join(map(script_of, parts)), source("page.css")
    policy = {
        "default-src": "'none'", "script-src": _hash(script), "style-src": _hash(style),
        "connect-src": survey.send_to.split("?")[0], "base-uri": "'none'", "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }  # fmt: skip
    first = survey.languages[0]
    return PAGE.format(
        lang=first,
        policy="; ".join(f"{key} {value}" for key, value in policy.items()),
        title=escape(survey.title[first], quote=False).replace("\xa0", "&nbsp;"),
        style=style,
        broken=BROKEN,
        form=_embedded(form | {"survey": texts(survey)}),
        script=script,
    ).encode()


def texts(survey: Survey) -> dict[str, Any]:
    """Return what the page shows, by language."""
    return {
        "name": survey.name, "who": survey.who, "contact": survey.contact,
        "send_to": survey.send_to, "languages": list(survey.languages),
        "order": [question.name for question in survey.questions],
        "texts": {tag: _spoken(survey, tag) for tag in survey.languages},
        "words": {tag: _said(survey, tag) for tag in survey.languages},
    }  # fmt: skip


def _said(survey: Survey, tag: str) -> dict[str, str]:
    """Return what the page itself says; in a survey of several rounds some words are others."""
    said = survey.said(tag)
    own = {key: text for key, text in said.items() if not key.startswith((RESULTS, ROUND))}
    if survey.schema.rounds is not None:
        own |= {key.removeprefix(ROUND): said[key] for key in said if key.startswith(ROUND)}
    return own


def _spoken(survey: Survey, tag: str) -> dict[str, Any]:
    """Return the texts of one language."""
    questions: dict[str, Any] = {}
    for question in survey.questions:
        own: dict[str, Any] = {"ask": question.ask[tag]}
        if question.help:
            own["help"] = question.help[tag]
        listed = [*map(str, getattr(survey.schema.columns[question.name], "listed", ()))]
        called = {NO_ANSWER: survey.said(tag)["none"]} | {
            answer: text[tag] for answer, text in question.labels.items()
        }
        if any(one in called for one in listed):
            own["answers"] = [called.get(one, one) for one in listed]
        questions[question.name] = own
    text = {"text": survey.text[tag]} if survey.text else {}
    return {"title": survey.title[tag], **text, "questions": questions}


def _embedded(facts: object) -> str:
    """Return JSON that no letter of it can break out of its element."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029\ufeff":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
