"""The page as a file: deterministic, small, whole; and what it says of epsilon."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser

import mpmath
import pytest
import quickjs

from sourdine.exact import exp_neg
from sourdine.survey import Survey, form_for_device, page
from sourdine.survey.page import compact, languages, source, sure, words
from sourdine.survey.page import script_of as page_script

EPSILONS = ("0.1", "1", "4", "8")
MOST = 36_000


def script_of(html):
    return re.search(r'<script type="module">(.*)</script>', html.decode(), re.DOTALL)[1]


def test_the_page_is_the_same_every_time(survey_cases):
    facts = survey_cases.facts()
    assert page(Survey.from_facts(facts)) == page(Survey.from_facts(facts))
    other = page(Survey.from_facts(facts | {"epsilon": 2}))
    assert script_of(other) == script_of(page(Survey.from_facts(facts)))


def test_the_page_is_small(survey_cases):
    assert len(page(Survey.from_facts(survey_cases.facts()))) <= MOST
    asked = {f"question-{i}": {"kind": "flag", "ask": f"Is this the question number {i}?"}
             for i in range(6)}  # fmt: skip
    asked |= {f"choice-{i}": {"kind": "choice", "categories": ["never", "seldom", "often"],
                              "ask": f"How often, for number {i}?"} for i in range(3)}  # fmt: skip
    asked |= {f"number-{i}": {"kind": "number", "lower": 0, "upper": 100, "step": 1,
                              "ask": f"How many of number {i}?"} for i in range(3)}  # fmt: skip
    plain = survey_cases.facts() | {"languages": ["en"], "title": "Twelve", "text": "Thank you."}
    assert len(page(Survey.from_facts(plain | {"questions": asked}))) <= MOST


def test_the_device_is_short():
    """Some 30 lines for each randomiser, and what they share: a person can read it."""
    assert len(source("device.mjs").splitlines()) < 480


def test_the_policy_names_this_script_and_this_style(survey_cases):
    html = page(Survey.from_facts(survey_cases.facts())).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].split("; ")
    style = re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]
    for kind, text in (("script", script_of(html.encode())), ("style", style)):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "connect-src http://127.0.0.1:8000/commute/reports" in policy


def test_nothing_is_loaded(survey_cases):
    """No element but the page's own, none with an address."""

    class Elements(HTMLParser):
        tags, attributes = set(), set()

        def handle_starttag(self, tag, attrs):
            self.tags.add(tag)
            self.attributes |= {name for name, _ in attrs}

    seen = Elements()
    seen.feed(page(Survey.from_facts(survey_cases.facts())).decode())
    assert seen.tags == {"html", "head", "meta", "title", "style", "body", "main", "h1", "p",
                         "script"}  # fmt: skip
    assert seen.attributes == {"lang", "charset", "http-equiv", "content", "name", "type", "id"}


def test_the_form_in_the_page_is_the_schemas(survey_cases):
    facts = survey_cases.facts(title="</script>\u2028<!-- &", who="<b>")
    survey = Survey.from_facts(facts)
    html = page(survey).decode()
    block = re.search(r'id="form">(.*?)</script>', html, re.DOTALL)[1]
    assert not set("<>&\u2028") & set(block)
    form = json.loads(block)
    assert form.pop("survey")["texts"]["en"]["title"] == facts["title"]
    assert form == form_for_device(survey.schema)


def test_scripts_differ_from_their_sources_in_blanks_and_comments_alone():
    for name, script in (
        ("device.mjs", page_script("device.mjs")),
        ("ask.mjs", page_script("ask.mjs")),
    ):
        kept = compact(source(name).split("// ---- in Node")[0])
        lines = [line.strip() for line in source(name).split("// ---- in Node")[0].splitlines()]
        code = [line for line in lines if line and not line.startswith(("//", "/**", "import {"))]
        bare = re.sub(r"; // .*", ";", "\n".join(code)).replace("\nexport ", "\n")
        assert re.sub(r"\s", "", bare.removeprefix("export ")) == re.sub(r"\s", "", kept)
        quoted = r'"[^"\n]*"|`[^`\n]*`'
        assert re.findall(quoted, bare) == re.findall(quoted, kept)
        assert kept == script


def in_a_page(epsilon):
    """Return what the script of a page computes."""
    found = re.search(
        r"function sure\(.*?(?=function preferred)", page_script("ask.mjs"), re.DOTALL
    )[0]
    engine = quickjs.Context()
    engine.eval(page_script("device.mjs") + found)
    return engine.get("sure")(epsilon)


@pytest.mark.parametrize("epsilon", [*EPSILONS, "1/3", "2", "5", "7999/1000", "1/1000"])
def test_no_sentence_claims_too_much(epsilon):
    spent, said = Fraction(epsilon), Fraction(sure(Fraction(epsilon))) / 100
    with mpmath.workdps(60):
        odds = mpmath.exp(mpmath.mpf(spent.numerator) / spent.denominator)
        most = odds / (1 + odds)
        assert mpmath.mpf(said.numerator) / said.denominator >= most
        assert (said - Fraction(1, 100)).__float__() < most
    assert said < 1
    assert in_a_page(str(spent)) == sure(spent)


def test_the_rounding_is_up_even_where_it_is_close():
    """At ln(0.75/0.25), three to one, the chance is 75 %, and a little beyond it is 76."""
    three = Fraction(1098612288668109691, 10**18)
    assert exp_neg(three).above() > Fraction(1, 3)
    assert exp_neg(three + Fraction(1, 10**18)).below() < Fraction(1, 3)
    assert sure(three) == in_a_page(str(three)) == "75"
    assert sure(three + Fraction(1, 10**18)) == in_a_page(str(three + Fraction(1, 10**18))) == "76"


def test_every_promise_names_the_number_and_the_assumption():
    assumed = {"ar": "متساويين", "de": "gleich wahrscheinlich", "en": "equally likely",
               "es": "igual de probables", "fr": "aussi probables"}  # fmt: skip
    for tag in languages():
        assert re.search(r"\{percent\} ?%", words(tag)["promise"])
        assert assumed[tag] in words(tag)["promise"]
        assert not re.search(r"\d", words(tag)["promise"])
