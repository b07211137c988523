"""The page of results: in the survey's languages, readable by everybody."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from html import unescape

import pytest

from browsing import arabic, overflow, violations
from sourdine.local.reports.records import to_lines
from sourdine.survey import Survey
from sourdine.survey.page import languages, page, words
from sourdine.survey.results import results, results_page, rounded
from sourdine.survey.store import Posted, SurveyStore

SIZES = {"desktop": {"width": 1100, "height": 900}, "phone": {"width": 360, "height": 740}}
PLACES = r"\{\w+\}"


@pytest.fixture
def found(survey_cases, tmp_path):
    """Return what finds the results of a survey that so many people answered."""

    def make(n=90, change=lambda facts: facts):
        survey = Survey.from_facts(change(survey_cases.facts(epsilon=8)))
        store, _ = SurveyStore.create(tmp_path / f"{n}.db", survey)
        people = {
            "way": ["bus", "car", "foot"],
            "minutes": [35, 20, 50],
            "late": [True, False, None],
            "wishes": ["seats", "times;shade", ""],
        }
        table = {name: values * (n // 3) for name, values in people.items()}
        for part in survey.schema.reports(table) if n else ():
            store.accept([Posted(lines=[line.encode() for line in to_lines(part)])])
        store.fold()
        made = results(store)
        store.close()
        return made

    return make


@pytest.fixture
def shown(chromium, collector):
    """Return what opens a page of results."""
    contexts = []

    def start(html, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        tab, said = context.new_page(), []
        tab.on("console", lambda message: said.append(message.text))
        collector.pages["/results"] = html
        tab.goto(f"{collector.base}/results")
        assert said == []
        return tab

    yield start
    for context in contexts:
        context.close()


def plain(html):
    text = re.sub("<[^>]*>", "", re.sub("(?s)<style>.*?</style>", "", html))
    return " ".join(unescape(text).split())


@pytest.mark.slow
def test_it_speaks_every_language_of_the_survey(found):
    """No sentence of English is left in another language, before and after results are shown."""
    english = [text for key, text in words("en").items() if key.startswith("results_")]
    parts = [part.strip() for text in english for part in re.split(PLACES, text)]
    for known in (found(0), found()):
        for paused in (False, True):
            told = {tag: plain(results_page(known, language=tag, paused=paused).decode())
                    for tag in known.survey.languages}  # fmt: skip
            for tag, text in told.items():
                assert words(tag)["results_paused" if paused else "results_live"] in text
                assert words(tag)["results_note"].format(percent=95) in text
            assert not [part for part in parts if len(part) > 9 and part in told["fr"]]
            assert len([part for part in parts if len(part) > 9 and part in told["en"]]) > 5


def test_every_language_has_the_words():
    for tag in languages():
        assert set(words(tag)) == set(words("en"))
        for key, text in words("en").items():
            assert set(re.findall(PLACES, text)) == set(re.findall(PLACES, words(tag)[key]))


@pytest.mark.slow
def test_the_survey_page_does_not_carry_its_words(found):
    assert b"results_" not in page(found(0).survey)


def test_numbers_are_those_of_the_results(found):
    known = found()
    text = plain(results_page(known).decode())
    for one in known.questions:
        share = one.what == "share"
        numbers = [*zip(one.values, one.lower, one.upper, strict=True)]
        for value, low, high in one.of_answered or numbers:
            middle, a, b = rounded(value, low, high, share=share)
            assert f"{middle} ({a} to {b})" in text
        if one.of_answered:
            for value, low, high in numbers:
                middle, a, b = rounded(value, low, high, share=True)
                assert f"{middle} of all ({a} to {b})" in text
        if one.no_answer and not share:
            middle, a, b = rounded(*one.no_answer, share=True)
            assert f"No answer {middle} ({a} to {b})" in text
    assert [one.no_answer is None for one in known.questions] == [False, False, False, True]


def test_numbers_have_the_digits_of_their_intervals(found):
    """No digit is printed that the interval does not reach, and shares are in per cent."""
    known = found()
    for one in known.questions:
        rows = [*one.of_answered, *zip(one.values, one.lower, one.upper, strict=True)]
        for value, low, high in rows:
            share = one.what == "share"
            texts = rounded(value, low, high, share=share)
            assert all(text.endswith("%") == share for text in texts)
            numbers = [Decimal(text.removesuffix("%").replace(",", "")) for text in texts]
            unit, half = (
                10 ** numbers[0].as_tuple().exponent,
                (high - low) / 2 * (100 if share else 1),
            )
            assert unit >= min(half / 20, 1)
            scale = 100 if share else 1
            assert numbers[1] <= scale * low + 1e-6
            assert numbers[2] >= scale * high - 1e-6
            assert abs(float(numbers[0]) - scale * value) <= max(unit / 2, half / 4) + 1e-6
    text = plain(results_page(known).decode())
    assert "90 people have responded to this question so far: accurate to ± " in text
    assert "With 500 participants, about 500 of them answering this question: ± " in text
    assert "percentage points" in text


def test_people_and_answers_are_told_apart(found):
    """Where each person reports one of four questions, a quarter of the people report each."""
    text = plain(results_page(found(0, lambda facts: facts | {"method": "sample"})).decode())
    assert "With 500 participants, about 125 of them answering this question: ± " in text


def test_texts_are_escaped(found):
    bad = "<script>alert(1)</script>"

    def change(facts):
        text = json.dumps(facts).replace("by bus", bad).replace("How did you come today?", bad)
        return json.loads(text)

    html = results_page(found(change=change)).decode()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 2


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("scheme", "size"), [("light", "desktop"), ("dark", "phone")])
def test_axe_finds_nothing_on_results(found, shown, scheme, size):
    tab = shown(results_page(found()), viewport=SIZES[size], color_scheme=scheme, bypass_csp=True)
    assert violations(tab) == []
    assert overflow(tab) <= 0
    first = tab.locator("svg").first.bounding_box()
    assert first["width"] > 0.7 * min(SIZES[size]["width"], 640)
    assert first["height"] > 15
    letters = tab.locator("li").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert letters >= 16, "letters do not shrink with the picture"


@pytest.mark.slow
def test_results_from_right_to_left(found, shown):
    tab = shown(results_page(found(change=arabic)), viewport=SIZES["phone"], bypass_csp=True)
    assert tab.locator("html").get_attribute("dir") == "rtl"
    assert overflow(tab) <= 0
    assert violations(tab) == []
    label = tab.locator("li span").first.bounding_box()
    assert label["x"] > SIZES["phone"]["width"] / 3
