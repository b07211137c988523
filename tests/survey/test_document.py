"""A survey's file: what is read, what is refused and in which words."""

from __future__ import annotations

import copy
import json
import tomllib

import pytest

from sourdine.errors import ParameterError, SourdineError
from sourdine.survey import Survey
from sourdine.survey.document import SKELETON, examined
from sourdine.survey.page import languages, words

WHOLE = tomllib.loads(SKELETON)


def changed(path, value):
    """Return the facts of a survey with one thing changed, or taken out."""
    facts = copy.deepcopy(WHOLE)
    at = facts
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return facts


WRONG = {
    "an unknown key": (("tittle",), "x", "a survey must hold known keys, got 'tittle'. "
                       "Did you mean 'title'?"),
    "no title": (("title",), None, "a survey must hold 'title'. Add 'title';"),
    "a title in one language": (("title",), {"en": "x"},
                                "title must be given in every language, got none for 'fr'. "
                                'Add fr = "...".'),
    "a language that is not the survey's": (("title",), {"en": "x", "fr": "y", "de": "z"},
                                            "title must hold known keys, got 'de'. Known "
                                            "names: 'en', 'fr'."),
    "a blank text": (("title",), {"en": "x", "fr": " "}, "title.fr must be a string of 1 to 4000 "
                     "characters, got ' '. Put it in quotes."),
    "a name with blanks": (("name",), "my survey", "name must be lowercase letters, digits and "
                           "hyphens, got 'my survey'. Use name = \"age\"."),
    "a language nobody speaks here": (("languages",), ["en", "fr", "sw"], None),
    "two equal languages": (("languages",), ["en", "en"], "languages must be a list of distinct "
                            'languages. Use languages = ["en"].'),
    "a question without words": (("questions", "late", "ask"), None,
                                 "questions.late must hold 'ask'. Add ask = \"...\"."),
    "a label of no answer": (("questions", "way", "labels", "train"), "x",
                             "questions.way.labels must hold known keys, got 'train'. "),
    "labels of a number": (("questions", "minutes", "labels"), {"1": "x"},
                           "questions.minutes.labels must hold known keys, got '1'."),
    "an order without a question": (("order",), ["way"], "order must list every question once. "
                                    'Use order = ["way", "minutes", '),
    "a kind of its own": (("questions", "way", "kind"), "scale",
                          "the kind of column 'way' must be 'number', 'choice', 'choices' or "
                          "'flag', got 'scale'."),
    "an epsilon of 9": (("epsilon",), 9, "epsilon must be at most 8 in a survey, got 9. "),
    "a letter that steers": (("who",), "a\x1bb", "who must contain no control characters."),
    "no questions": (("questions",), {}, "questions must be a table, got an empty one."),
    "a plain address": (("send_to",), "http://example.org/x",
                        "send_to must be an address that begins with https:// (http:// "
                        "only for this machine), got 'http://example.org/x'."),
    "an address that steers the policy": (("send_to",), "https://example.org/;script-src", None),
    "an address with a name": (("send_to",), "https://me:secret@example.org/", None),
    "no address": (("send_to",), 5, None),
    "words of the wrong kind": (("words",), {"en": {"yes": "Yep"}}, "words.en must contain every "
                                "word of a page"),
    "a placeholder": (("send_to",), "https://example.org/commute/reports",
                      "send_to must be the address of your own collector, got "
                      "'https://example.org/commute/reports', a placeholder. Use the address "
                      "that respondents can reach; to try it on this machine, send_to = "
                      '"http://127.0.0.1:8000/reports".'),
    **{f"a placeholder, {host}": (("send_to",), f"https://{host}/r", "send_to must be the address")
       for host in ("EXAMPLE.com", "www.example.net:8443", "polls.example", "example.org.",
                    "a.invalid")},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    path, value, said = WRONG[name]
    with pytest.raises(SourdineError) as error:
        Survey.from_facts(changed(path, value))
    assert str(error.value).startswith(said or path[0])


def test_a_survey_survives_its_facts():
    survey = Survey.from_facts(WHOLE)
    again = Survey.from_facts(json.loads(json.dumps(survey.facts())))
    assert again == survey
    assert again.fingerprint == survey.fingerprint
    assert hash(again) == hash(survey)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("title", "fr"), "Autre"),
        (("questions", "way", "help", "en"), "x"),
        (("questions", "way", "labels", "bus", "fr"), "x"),
        (("questions", "way", "categories"), ["foot", "bike", "bus", "car", "tram"]),
        (("order",), ["late", "way", "minutes", "wishes"]),
        (("epsilon",), 1.5),
        (("method",), "sample"),
        (("send_to",), "https://survey.test/other"),
        (("who",), "x"),
        (("contact",), "x"),
    ],
)
def test_the_fingerprint_is_of_all_that_people_see(path, value):
    survey, other = Survey.from_facts(WHOLE), Survey.from_facts(changed(path, value))
    assert survey != other
    assert survey.fingerprint != other.fingerprint


def test_files(tmp_path):
    file = tmp_path / "survey.toml"
    file.write_text(SKELETON, encoding="utf-8")
    survey = Survey.read(file)
    frozen = tmp_path / "survey.json"
    frozen.write_text(json.dumps(survey.facts()), encoding="utf-8")
    assert Survey.read(frozen) == survey
    file.write_text("name = ")
    with pytest.raises(ParameterError, match="be a valid TOML or JSON file"):
        Survey.read(file)
    with pytest.raises(FileNotFoundError, match="No such file: "):
        Survey.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8000/r",
        "http://127.0.0.1/r",
        "http://[::1]:9/r",
        "https://survey.test/r?survey=1",
        "https://my-example.org/r",
    ],
)
def test_addresses_that_are_taken(address):
    assert Survey.from_facts(changed(("send_to",), address)).send_to == address


def test_a_language_may_bring_its_words():
    facts = changed(("languages",), ["en", "fr", "sw"])
    own = {key: f"sw {text}" for key, text in words("en").items()}
    text = json.loads(json.dumps(facts))

    def third(value):
        if isinstance(value, dict):
            if set(value) == {"en", "fr"}:
                return value | {"sw": "x"}
            return {key: third(one) for key, one in value.items()}
        return value

    survey = Survey.from_facts(third(text) | {"words": {"sw": own}})
    assert survey.words["sw"]["yes"] == "sw Yes"
    assert survey.words["fr"] == words("fr")
    own["promise"] = "at most {chance} %"
    with pytest.raises(
        ParameterError, match=r"words.sw.promise must use the same placeholders as English"
    ):
        Survey.from_facts(third(text) | {"words": {"sw": own}})


@pytest.mark.parametrize("tag", languages())
def test_the_promise_in_a_shipped_language_cannot_be_rewritten(tag):
    """Neither the promise nor another word, in a file and in a draft on a server."""
    plain = json.loads(json.dumps(WHOLE | {"languages": [tag], "title": "t", "text": "t"}))
    plain["questions"] = {"late": {"kind": "flag", "ask": "?"}}
    shipped = dict(words(tag))
    for key, text in shipped.items():
        own = shipped | {key: f"{text} Nothing can be learnt about you."}
        with pytest.raises(ParameterError, match=rf"words\.{tag} must be omitted for a built-in"):
            Survey.from_facts(plain | {"words": {tag: own}})
    found = examined(plain | {"words": {tag: own}})
    assert found.survey is None
    assert [problem.field for problem in found.problems] == [f"words.{tag}"]
    same = Survey.from_facts(plain | {"words": {tag: shipped}})
    assert same == Survey.from_facts(plain)


def test_a_survey_that_was_opened_keeps_the_words_it_was_opened_with():
    facts = Survey.from_facts(WHOLE).facts()
    facts["words"]["en"]["adds"] += " So it was said before."
    with pytest.raises(ParameterError, match=r"words\.en must be omitted"):
        Survey.from_facts(facts)
    assert Survey.from_facts(facts, frozen=True).words["en"]["adds"].endswith("before.")


def test_every_language_has_every_word():
    from sourdine.survey.page import read_words

    assert languages() == ("ar", "de", "en", "es", "fr")
    for tag in languages():
        assert read_words(tag, words(tag)) == words(tag)
        assert all(text == text.strip() for text in words(tag).values())
