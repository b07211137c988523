"""The pages of several rounds in a real browser: one memory, a line for each round."""

from __future__ import annotations

import json

import pytest

from browsing import overflow, violations
from sourdine.local import Aggregator
from sourdine.survey import Survey, page
from sourdine.survey.page import sure, words

EN = words("en")


@pytest.fixture
def asked(chromium, collector, survey_cases):
    """Return a survey, what opens the page of a round in one browser, and the browser."""
    facts = survey_cases.facts(send_to=f"{collector.base}/reports", epsilon=4, rounds=5)
    facts["questions"] = {name: facts["questions"][name] for name in ("way", "late")}
    facts.pop("order", None)
    survey = Survey.from_facts(facts)
    context = chromium.new_context(locale="en-GB", viewport={"width": 360, "height": 740},
                                   bypass_csp=True)  # fmt: skip
    said, collector.pages["/favicon.ico"] = [], b" "

    def start(number):
        collector.pages["/commute.html"] = page(survey.round(number))
        tab = context.new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(f"{collector.base}/commute.html")
        return tab

    yield survey, start, context
    context.close()
    assert said == []


def drawn(tab):
    tab.get_by_label("by bus").check()
    tab.get_by_role("button", name=EN["draw"]).click()
    return tab.locator("section pre").text_content()


def memory(tab):
    kept = tab.evaluate("Object.entries(localStorage)")
    [found] = [json.loads(value) for key, value in kept if key.startswith("sourdine memory")]
    return found


def test_rounds_are_answered_from_one_memory(asked, collector):
    survey, start, _ = asked
    memories = []
    for number in (1, 2, 4):
        tab = start(number)
        line = drawn(tab)
        tab.locator("#send").click()
        tab.get_by_text(EN["accepted"]).wait_for()
        assert collector.lines[-1] == line + "\n"
        assert Aggregator(survey.round(number).schema).add([line]).accepted == 1
        memories.append(memory(tab))
        assert memories[-1]["answered"] == number
        assert "kept" in memories[-1]["columns"]["way"]
        assert not any(text in line for text in ("kept", "secret"))
    assert all(one["columns"] == memories[0]["columns"] for one in memories)
    survey.schema.respondent(json.dumps(memories[-1])).answer(way="bus")
    again = start(2)
    assert EN["kept"] in again.locator("main").inner_text(), "its line is sent again, not drawn"


def test_a_round_that_passed_is_not_drawn(asked, collector):
    _, start, _ = asked
    drawn(start(3))
    tab = start(2)
    tab.get_by_role("button", name=EN["draw"]).click()
    assert EN["round_stuck"] in tab.get_by_role("alert").inner_text()
    assert collector.lines == []


def test_a_browser_that_keeps_nothing_cannot_answer(asked, collector):
    _, start, context = asked
    context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    tab = start(1)
    tab.get_by_role("button", name=EN["draw"]).click()
    assert EN["round_stuck"] in tab.get_by_role("alert").inner_text()
    assert collector.lines == []


@pytest.mark.slow
def test_the_costs_of_rounds_are_said(asked):
    survey, start, _ = asked
    costs, tab = survey.schema.costs(), start(2)
    told = tab.locator(".promise").inner_text()
    given = {"once": costs.one.exact_epsilon(), "percent": survey.schema.epsilon}
    given["stays"] = sum(part.memoised.permanent for part in survey.schema.parts("report").values())
    said = {name: sure(epsilon) for name, epsilon in given.items()}
    assert EN["round_promise"].format(round=2, rounds=5, **said) in told
    assert EN["round_adds"] in told
    assert violations(tab) == []
    assert overflow(tab) <= 0
