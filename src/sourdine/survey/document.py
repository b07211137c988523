"""`Survey`: what is asked, in which words, at what cost, by whom, and where answers go.

::

    name = "commute"
    languages = ["en", "fr"]
    title = { en = "How do you come to work?", fr = "Comment venez-vous au travail ?" }
    who = "the town of Aix"
    contact = "survey@example.org"
    send_to = "http://127.0.0.1:8000/commute/reports"
    epsilon = 2

    [questions.way]
    kind = "choice"
    categories = ["foot", "bike", "bus", "car"]
    missing = true
    ask = { en = "Which way?", fr = "Par quel moyen ?" }
    labels.foot = { en = "on foot", fr = "à pied" }

A text is a string, the same in all languages, or a table with one for each. Beside ``ask``,
``help`` and ``labels``, a question holds what a column of a schema does
(`sourdine.local.table.schema_files`). With ``missing`` people may leave it unanswered, which is
reported privately as any other answer is, and estimated; without, the page needs an answer.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sourdine.errors import (
    MissingFileError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
    did_you_mean,
)
from sourdine.exact import given
from sourdine.local.table.columns import Number
from sourdine.local.table.schema import Schema
from sourdine.survey.form import form_for_device
from sourdine.survey.page import languages as spoken
from sourdine.survey.page import read_words, said, source, words

if TYPE_CHECKING:
    from os import PathLike


VERSION = 1
STORE, STORE_VERSION = 0x536F7576, 1
"""What marks a file or a database as a survey's store, and its format."""
HERE = "http://127.0.0.1:8000/reports"
"""Where ``sourdine survey serve`` takes records if nothing else is said."""
KEYS = (
    *("name", "title", "text", "who", "contact", "send_to", "languages", "order"),
    *("words", "epsilon", "method", "rounds", "once", "round", "questions"),
)
NEEDED = ("name", "title", "who", "contact", "send_to", "epsilon", "questions")
TEXTS = ("ask", "help", "labels")
"""What a question holds beside its column."""
LONGEST = 4000
"""Letters of a text."""
ADDRESS = re.compile(r"[A-Za-z0-9/:.?=&%~_\[\]-]{1,300}")
"""Letters of an address: none of them ends a policy, an attribute or a word."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PLACEHOLDER = re.compile(r"(?:.*\.)?(?:example(?:\.com|\.net|\.org)?|invalid)\.?")
"""Host names reserved for documentation (RFC 2606): records sent there are lost."""
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
TAG = re.compile(r"[a-z]{2,3}")

Text = Mapping[str, str]
"""A text in each language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyQuestion:
    """One question in words; its column in the schema says what may be answered."""

    name: str
    """The column."""
    ask: Text
    help: Text | None = None
    """What is asked, and what helps to answer."""
    labels: Mapping[str, Text] = field(default_factory=dict)
    """How answers are called, those that are called otherwise than the schema does."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """A whole survey; it never changes, so what its `fingerprint` names is what people saw.

    Parameters
    ----------
    name
        Small letters, digits and hyphens: the survey's name in files and addresses.
    title, text
        What it is called, and what stands before the questions.
    questions
        In the order in which they are asked.
    schema
        What may be answered, and what a record costs.
    who, contact
        Who asks, and where to ask back.
    send_to
        The address that records are sent to.
    languages
        The languages of its texts; the first is shown to who speaks none of them.
    words
        What the page itself says in each.

    Examples
    --------
    >>> survey = Survey.from_facts({
    ...     "name": "smoking", "title": "Smoking", "who": "the clinic", "contact": "a@example.org",
    ...     "send_to": "http://127.0.0.1:8000/reports", "epsilon": 1,
    ...     "questions": {"smokes": {"kind": "flag", "ask": "Do you smoke?"}},
    ... })
    >>> survey.schema.columns["smokes"], survey.languages
    (Flag(method=None, missing=False), ('en',))
    """

    name: str
    title: Text
    questions: tuple[SurveyQuestion, ...]
    schema: Schema
    who: str
    contact: str
    send_to: str
    text: Text | None = None
    languages: tuple[str, ...] = ("en",)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @staticmethod
    def read(path: str | PathLike[str]) -> Survey:
        """Read a survey from a TOML or JSON file, or say what is wrong with it."""
        file = Path(path)
        if not file.is_file():
            raise MissingFileError("path", "exist", str(path), "Check the path.")
        text, kind = file.read_text(encoding="utf-8"), file.suffix.lower().removeprefix(".")
        return Survey.from_facts(parsed(text, kind, shown=repr(str(path))))

    @staticmethod
    def from_facts(found: object, *, frozen: bool = False) -> Survey:
        """Return the survey of what a file holds, or say what is wrong with it.

        Parameters
        ----------
        found
            What `facts` returns, or the keys of a survey.toml.
        frozen
            Whether the survey was opened, perhaps by another version of Sourdine, whose own words
            it keeps.
        """
        known = _table(found, "a survey", KEYS)
        for key in NEEDED:
            if key not in known:
                hint = f"Add {key!r}; sourdine survey new writes an example."
                raise ParameterError("a survey", f"hold {key!r}", "", hint)
        tags = _languages(known.get("languages", ["en"]))
        spoken_words = _words(_table(known.get("words", {}), "words", tags), tags, frozen=frozen)
        asked = {
            name: _table(question, f"question {name!r}", None)
            for name, question in _table(known["questions"], "questions", None).items()
        }
        columns = {
            name: {key: value for key, value in question.items() if key not in TEXTS}
            for name, question in asked.items()
        }
        cost = {key: known[key] for key in ("epsilon", "method", "rounds", "once") if key in known}
        schema = Schema.from_facts(cost | {"columns": columns})
        if "round" in known:
            schema = schema.round(known["round"])
        form_for_device(schema if schema.rounds is None or schema.turn else schema.round(1))
        letters = "lowercase letters, digits and hyphens"
        return Survey(
            name=_matching(known["name"], "name", NAME, letters, "age"),
            title=_text(known["title"], "title", tags),
            text=_text(known["text"], "text", tags) if known.get("text") else None,
            questions=tuple(
                _question(name, asked[name], schema, tags)
                for name in _order(known.get("order"), list(asked))
            ),
            schema=schema, who=_line(known["who"], "who"),
            contact=_line(known["contact"], "contact"),
            send_to=_address(known["send_to"], frozen=frozen), languages=tags, words=spoken_words,
        )  # fmt: skip

    def round(self, number: int) -> Survey:
        """Return the survey of one round, from 1: its page, and what its records are counted by."""
        return replace(self, schema=self.schema.round(number))

    def facts(self) -> dict[str, Any]:
        """Return the survey as JSON knows it; `from_facts` reads it."""
        cost = self.schema.facts()
        questions = {}
        for one in self.questions:
            labels = {answer: dict(text) for answer, text in one.labels.items()}
            own = {"ask": dict(one.ask), "help": one.help and dict(one.help), "labels": labels}
            said = {key: value for key, value in own.items() if value}
            questions[one.name] = {**cost["columns"][one.name], **said}
        return {
            "name": self.name,
            "title": dict(self.title),
            **({"text": dict(self.text)} if self.text else {}),
            "who": self.who,
            "contact": self.contact,
            "send_to": self.send_to,
            "languages": list(self.languages),
            "words": {tag: dict(self.words[tag]) for tag in self.languages},
            "epsilon": cost["epsilon"],
            "method": cost["method"],
            **{key: cost[key] for key in ("rounds", "once") if key in cost},
            **({} if self.schema.turn is None else {"round": self.schema.turn}),
            "order": [one.name for one in self.questions],
            "questions": questions,
        }

    def said(self, language: str) -> Mapping[str, str]:
        """Return what the pages say in one of the survey's languages."""
        return said(language, self.words[language])

    def canonical(self) -> str:
        """Return the survey as JSON, the same for all ways to write it."""
        return json.dumps({"sourdine survey": VERSION, **self.facts()}, sort_keys=True)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of `canonical`: what a survey is frozen by when it is opened.

        It covers every word that people see, the schema, the order and the address.
        """
        return sha256(self.canonical().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Survey) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"Survey({self.name!r}, {len(self.questions)} questions, {self.fingerprint[:16]})"


def parsed(text: str, kind: str = "toml", *, shown: str = "another text") -> Any:
    """Return what a text of TOML or JSON holds, or say where it breaks."""
    try:
        return json.loads(text) if kind == "json" else tomllib.loads(text)
    except ValueError as error:
        raise ParameterError(
            "a survey", "be a valid TOML or JSON file", shown, f"Correct it: {error}."
        ) from None


def _table(found: object, what: str, keys: tuple[str, ...] | None) -> dict[str, Any]:
    """Return a table, of known keys if they are."""
    if not isinstance(found, Mapping) or (keys is None and not found):
        got = "an empty one" if isinstance(found, Mapping) else given(found)
        raise ParameterTypeError(what, "be a table", got, "Use [questions.age].")
    for key in found:
        if keys is not None and key not in keys:
            hint = did_you_mean(str(key), keys)
            raise ParameterError(what, "hold known keys", repr(key), hint)
    return dict(found)


def _line(found: object, what: str) -> str:
    """Return a text that is not blank, not too long and holds nothing but letters and lines."""
    if not isinstance(found, str) or not found.strip() or len(found) > LONGEST:
        raise ParameterError(
            what, f"be a string of 1 to {LONGEST} characters", given(found), "Put it in quotes."
        )
    text = found.replace("\r\n", "\n").strip()
    if CONTROL.search(text):
        raise ParameterError(what, "contain no control characters", "", "Remove them.")
    return text


def _matching(found: object, what: str, pattern: re.Pattern[str], must: str, example: str) -> str:
    if not isinstance(found, str) or not pattern.fullmatch(found):
        raise ParameterError(what, f"be {must}", given(found), f'Use {what} = "{example}".')
    return found


def _languages(found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not found or len({*map(str, found)}) < len(found):
        hint = 'Use languages = ["en"].'
        raise ParameterError("languages", "be a list of distinct languages", "", hint)
    what = "tags of two or three letters"
    return tuple(_matching(tag, "languages", TAG, what, "en") for tag in found)


def _words(
    found: dict[str, Any], tags: tuple[str, ...], *, frozen: bool
) -> Mapping[str, Mapping[str, str]]:
    """Return what the page says in each language, by itself or as the survey words it.

    A survey brings the words of other languages only: the page's own say what can be learnt.
    """
    own = {}
    for tag in tags:
        what, known = f"words.{tag}", tag in spoken()
        if tag in found:
            own[tag] = read_words(tag, _table(found[tag], what, None))
            if known and not frozen and own[tag] != words(tag):
                must = "be omitted for a built-in language of the page"
                raise ParameterError(what, must, "", f"Remove [{what}].")
        elif known:
            own[tag] = words(tag)
        else:
            must = f"be among {', '.join(spoken())}, or come with their words"
            hint = f"Add [{what}], with a text for each word of the page."
            raise ParameterError("languages", must, repr(tag), hint)
    return MappingProxyType(own)


def _text(found: object, what: str, tags: tuple[str, ...]) -> Text:
    if not isinstance(found, Mapping):
        return MappingProxyType(dict.fromkeys(tags, _line(found, what)))
    own = _table(found, what, tags)
    for tag in tags:
        if tag not in own:
            raise ParameterError(
                what, "be given in every language", f"none for {tag!r}", f'Add {tag} = "...".'
            )
    return MappingProxyType({tag: _line(own[tag], f"{what}.{tag}") for tag in tags})


def _order(found: object, names: list[str]) -> list[str]:
    if found is None:
        return names
    if not isinstance(found, list) or sorted(map(str, found)) != sorted(names):
        listed = ", ".join(f'"{name}"' for name in names)
        raise ParameterError("order", "list every question once", "", f"Use order = [{listed}].")
    return found


def _question(
    name: str, found: dict[str, Any], schema: Schema, tags: tuple[str, ...]
) -> SurveyQuestion:
    what, column = f"questions.{name}", schema.columns[name]
    if "ask" not in found:
        raise ParameterError(what, "hold 'ask'", "", 'Add ask = "...".')
    listed = () if isinstance(column, Number) else getattr(column, "listed", ())
    labels = found.get("labels", {})
    if labels:
        labels = _table(labels, f"{what}.labels", tuple(map(str, listed)) or ("no answers",))
    texts = {key: _text(text, f"{what}.labels.{key}", tags) for key, text in labels.items()}
    ask = _text(found["ask"], f"{what}.ask", tags)
    helps = _text(found["help"], f"{what}.help", tags) if found.get("help") else None
    return SurveyQuestion(name=name, ask=ask, help=helps, labels=MappingProxyType(texts))


def _address(found: object, *, frozen: bool) -> str:
    """Return where to send: over TLS, or to this machine."""
    text = found if isinstance(found, str) and ADDRESS.fullmatch(found) else ""
    parts = urlsplit(text)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not text or not safe or not parts.hostname or parts.username or parts.fragment:
        raise ParameterError(
            "send_to", "be an address that begins with https:// (http:// only for this machine)",
            given(found), f'To try it on this machine, use send_to = "{HERE}".',
        )  # fmt: skip
    if PLACEHOLDER.fullmatch(parts.hostname) and not frozen:
        raise ParameterError(
            "send_to", "be the address of your own collector", f"{text!r}, a placeholder",
            "Use the address that respondents can reach; to try it on this machine, "
            f'send_to = "{HERE}".',
        )  # fmt: skip
    return text


# ---- A survey to begin with: it is whole, and every line of it is there to be changed ------------


SKELETON = source("survey.toml")


# ---- Everything that is wrong with a survey's document, each beside the field that it is in ------
#
# The reader of surveys stops at the first thing that it cannot read. Here it reads a document in
# parts, each in the company of stand-ins that are right: what it refuses then is that part. So a
# form can say all of it at once, and nothing is read but by the one reader.


LANGUAGES = ("languages", "words")
COST = ("epsilon", "method", "rounds", "once", "round")
APART = (*LANGUAGES, *COST, "questions", "order")
OF_QUESTIONS = re.compile(
    r"\b(kind|categories|choices|lower|upper|step|method|missing|weight|separator)"
)
STAND_IN: Mapping[str, Any] = {
    "name": "survey", "title": "?", "who": "?", "contact": "?",
    "send_to": "http://127.0.0.1:8000/reports", "epsilon": 1,
    "questions": {"question": {"kind": "flag", "ask": "?"}},
}  # fmt: skip
"""A valid survey, of which any part can replace that of another."""
UNREADABLE = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What the reader raises that stumbles over what no person types."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong, and where: the way in the document, such as ``"questions.way.lower"``."""

    field: str
    error: SourdineError

    def __str__(self) -> str:
        whole = self.error.hinting("", self.error.tries, "it").said()
        return whole.removeprefix("it ").removeprefix("it: ").removesuffix(".")

    def refusal(self) -> SourdineError:
        """Return the error to raise where the whole survey is refused for this problem."""
        return self.error.hinting("Correct the draft.", {}, self.field or self.error.name)


@dataclass(frozen=True, slots=True)
class Examination:
    """What became of a document."""

    survey: Survey | None
    """The survey; None if something is wrong."""
    problems: tuple[FieldProblem, ...]
    """What is wrong."""
    sketch: Survey | None
    """A survey of the questions that are right, at the cost that is said, in other words: for a
    plan while the rest is being written. None if there is no such question."""


def examined(found: object) -> Examination:
    """Read a survey, or say everything that is wrong with it.

    Examples
    --------
    >>> whole = {"name": "Work", "title": "", "who": "we", "contact": "a@example.org",
    ...          "send_to": "http://127.0.0.1:8000/reports", "epsilon": 1,
    ...          "questions": {"age": {"kind": "number", "lower": 9, "upper": 1, "ask": "Age?"},
    ...                        "ill": {"kind": "flag", "ask": "Ill?"}}}
    >>> wrong = examined(whole)
    >>> for problem in wrong.problems:
    ...     print(f"{problem.field}: {problem}")
    name: must be lowercase letters, digits and hyphens, got 'Work'
    title: must be a string of 1 to 4000 characters, got ''
    questions.age.lower: must be below upper, got 9 and 1
    >>> wrong.survey, [one.name for one in wrong.sketch.questions]
    (None, ['ill'])
    """
    if not isinstance(found, Mapping):
        wrong = _refused(found)
        if wrong is None:
            raise LookupError("a survey that is no table and yet one")
        return Examination(None, (FieldProblem("", wrong),), None)
    problems: list[FieldProblem] = []
    good = dict(STAND_IN)

    def takes(keys: tuple[str, ...], field: str) -> None:
        """Put a part of the document in the stand-in's place, if it is right there."""
        part = {key: found[key] for key in keys if key in found}
        rest = {key: x for key, x in good.items() if key not in keys or key in part}
        wrong = _refused({**(rest if field in NEEDED else good), **part})
        if wrong is None:
            good.update(part)
        else:
            problems.append(FieldProblem(_place(wrong, keys, field), wrong))

    takes(LANGUAGES, "languages")
    for key in (*KEYS, *(str(key) for key in found if key not in KEYS)):
        if key not in APART and (key in found or key in NEEDED):
            takes((key,), key)
    takes(COST, "epsilon")
    right = _questions(found.get("questions"), good, problems)
    sketch = good | {"questions": right}
    survey = None
    if not problems:
        wrong = _refused(found)
        if wrong is None:
            survey = Survey.from_facts(found)
        else:
            problems.append(FieldProblem(_place(wrong, KEYS, ""), wrong))
    usable = bool(right) and _refused(sketch) is None
    known = survey or (Survey.from_facts(sketch) if usable else None)
    return Examination(survey, tuple(problems), known)


def _questions(found: object, good: dict[str, Any], problems: list[FieldProblem]) -> dict[str, Any]:
    """Return the questions that are right alone; what is wrong with the others is added."""
    if not isinstance(found, Mapping) or not found:
        wrong = _refused(good | {"questions": found})
        problems += [] if wrong is None else [FieldProblem("questions", wrong)]
        return {}
    right = {}
    for name, question in found.items():
        wrong = _refused(good | {"questions": {name: question}})
        if wrong is None:
            right[name] = question
        else:
            problems.append(FieldProblem(_within(str(name), wrong), wrong))
    return right


def _refused(facts: object) -> SourdineError | None:
    """Return what the reader says against a document; None if nothing."""
    try:
        Survey.from_facts(facts)
    except SourdineError as error:
        return error
    except UNREADABLE:
        return ParameterError("a survey", "be readable", "", "Check its contents.")
    return None


def _place(error: SourdineError, keys: tuple[str, ...], field: str) -> str:
    """Return the error's own name if it is that of a field, and else where it was looked for."""
    return error.name if error.name.partition(".")[0] in keys else field


def _within(name: str, error: SourdineError) -> str:
    """Return the field of a question that an error is about; the question itself if none is."""
    whole = f"questions.{name}"
    if error.name.startswith(f"{whole}."):
        return error.name
    said = "step" if error.name == "last" else error.name.replace(repr(name), "")
    found = OF_QUESTIONS.search(f"{said} {error.got}" if said.startswith("column") else said)
    return f"{whole}.{found[1]}" if found else whole
