"""The page in a real browser: from a server and from a disk, wide and narrow, honest and forged."""

from __future__ import annotations

import re
from hashlib import sha256
from types import SimpleNamespace

import pytest

from browsing import arabic, overflow, violations
from sourdine.local import Aggregator
from sourdine.survey import Survey, page
from sourdine.survey.page import sure, words

EN = words("en")
WIDE, NARROW = {"width": 1100, "height": 900}, {"width": 360, "height": 740}
MARKUP = "<img src=x onerror=document.title='bad'><b>bold</b>"


@pytest.fixture
def opened(chromium, collector, survey_cases, tmp_path):
    """Return what opens a survey, and keeps what the page says and asks for."""
    contexts = []

    def start(*, disk=False, change=None, facts=None, url="/commute.html", **options):
        own = survey_cases.facts(send_to=f"{collector.base}/reports") | (facts or {})
        survey = Survey.from_facts(own)
        html = page(survey)
        html = change(html) if change else html
        context = chromium.new_context(**{"viewport": WIDE, "locale": "en-GB", **options})
        contexts.append(context)
        tab = context.new_page()
        said, asked = [], []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
        collector.pages[url] = html
        file = tmp_path / "commute.html"
        file.write_bytes(html)
        address = file.as_uri() if disk else collector.base + url
        tab.goto(address)
        return SimpleNamespace(tab=tab, context=context, survey=survey, html=html, said=said,
                               asked=asked, address=address)  # fmt: skip

    yield start
    for context in contexts:
        context.close()


def fill_in(tab):
    tab.get_by_label("by bus").check()
    tab.get_by_label("How many minutes did it take?").fill("35")
    tab.get_by_role("group", name="Were you late").get_by_label("Yes").check()
    tab.get_by_label("shelters").check()


def answer(tab):
    """Answer everything, and draw; return the line."""
    fill_in(tab)
    tab.get_by_role("button", name=EN["draw"]).click()
    return tab.locator("section pre").text_content()


def send(tab, said=EN["accepted"]):
    tab.locator("#send").click()
    tab.get_by_text(said).wait_for()


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("disk", [False, True], ids=["server", "disk"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
def test_a_person_answers(opened, collector, disk, size):
    one = opened(disk=disk, viewport=size)
    line = answer(one.tab)
    shown = one.tab.locator("tbody tr").all_inner_texts()
    answered = [re.split(r"[\t\n]", row)[1] for row in shown]
    assert answered == ["by bus", "35", "Yes", "shelters"]
    assert collector.lines == []
    send(one.tab)
    assert collector.lines == [line + "\n"]
    assert Aggregator(one.survey.schema).add(collector.lines).accepted == 1
    assert one.asked == [f"GET {one.address}", f"POST {collector.base}/reports"]
    assert one.said == []
    assert overflow(one.tab) <= 0


def test_the_page_shows_its_own_hash(opened):
    for disk, title in ((False, "Qui\xa0? <b> & \u2028 \u202e 'x' \"y\"\n z"), (True, "كيف")):
        one = opened(disk=disk, facts={"title": title})
        one.tab.get_by_text(EN["check"]).click()
        assert one.tab.locator("#hash").text_content() == sha256(one.html).hexdigest()


def test_offline_the_line_is_kept_and_sent_later(opened, collector):
    one = opened(disk=True)
    line = answer(one.tab)
    one.context.set_offline(True)
    send(one.tab, EN["offline"])
    one.tab.reload()
    assert one.tab.locator("section pre").text_content() == line
    send(one.tab, EN["offline"])
    one.context.set_offline(False)
    send(one.tab)
    assert collector.lines == [line + "\n"]


def test_a_second_answer_is_the_first_line_again(opened, collector):
    one = opened()
    line = answer(one.tab)
    send(one.tab)
    one.tab.reload()
    assert one.tab.get_by_text(EN["kept"]).is_visible()
    assert one.tab.locator("#draw, form").count() == 0
    assert EN["forgotten"] in one.tab.locator("tbody").inner_text()
    assert "35" not in one.tab.evaluate("JSON.stringify(localStorage)").replace(line, "")
    assert one.tab.get_by_role("button", name=EN["again"]).is_visible()
    send(one.tab)
    assert collector.lines == [line + "\n"] * 2
    assert Aggregator(one.survey.schema).add(collector.lines).accepted == 1


def test_two_tabs_draw_once(opened, collector):
    one = opened()
    other = one.context.new_page()
    other.goto(one.address)
    fill_in(other)
    line = answer(one.tab)
    other.get_by_role("button", name=EN["draw"]).click()
    assert other.locator("section pre").text_content() == line
    assert other.get_by_text(EN["kept"]).is_visible()
    send(other)
    assert collector.lines == [line + "\n"]


def test_without_memory_the_page_says_so(opened, collector):
    one = opened(disk=True)
    blocked = "Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })"
    one.context.add_init_script(blocked)
    one.tab.reload()
    line = answer(one.tab)
    assert one.tab.get_by_text(EN["unkept"]).is_visible()
    send(one.tab)
    assert collector.lines == [line + "\n"]


def question(column):
    """Return a column as a question."""
    return column.facts() | {"ask": f"Which {column.kind}?"}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "sample"])
def test_every_column_is_asked_and_told(opened, collector, survey_cases, method):
    columns = {re.sub(r"\W", "-", name): column for name, column in survey_cases.columns().items()}
    asked = {name: question(column) for name, column in columns.items()}
    one = opened(facts={"questions": asked, "method": method, "epsilon": 8})
    assert one.tab.locator("select").count() > 1, "long lists are lists to choose from"
    one.tab.get_by_role("button", name=EN["draw"]).click()
    needed = [name for name, column in columns.items() if not column.missing]
    assert one.tab.get_by_text(EN["needed"]).count() == len(needed) > 10
    assert one.tab.locator("tbody").count() == 0, "nothing is drawn before all is answered"
    for name in needed:
        if columns[name].kind == "number":
            one.tab.locator(f"[id='q_{name}']").fill("0")
        else:
            one.tab.locator(f"input[name='{name}']").first.check()
    one.tab.get_by_role("button", name=EN["draw"]).click()
    shown = one.tab.locator("tbody").inner_text()
    assert not re.search("undefined|NaN|null|\\[object", shown)
    assert shown.count(EN["unsent"]) == (0 if method == "split" else len(columns) - 1)
    send(one.tab)
    assert Aggregator(one.survey.schema).add(collector.lines).accepted == 1
    assert one.said == []


def test_what_is_not_accepted_is_kept(opened, collector):
    one, collector.status = opened(), 503
    line = answer(one.tab)
    send(one.tab, EN["refused"].format(status=503))
    one.tab.reload()
    collector.status = 202
    send(one.tab)
    assert collector.lines == [line + "\n"] * 2


def test_one_changed_letter_stops_the_script(opened, collector):
    def changed(html):
        assert html.count(b"if(word<chance.bounds(bits)[0])high=middle;") == 1
        return html.replace(b"[0])high=middle;", b"[1])high=middle;")

    one = opened(change=changed)
    one.tab.wait_for_timeout(300)
    assert "was changed on its way" in one.tab.locator("main").inner_text()
    assert one.tab.locator("form, button, input").count() == 0
    assert any("Content Security Policy" in text for text in one.said)
    assert collector.lines == []


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"epsilon":"1"', b'"epsilon":"1/2"'), (b'"epsilon":"1/4"', b'"epsilon":"3"'),
     (b'"epsilon":"1"', b'"epsilon":"9"'), (b'"v":1', b'"v":2')],
)  # fmt: skip
def test_a_lying_form_is_refused(opened, old, new):
    one = opened(change=lambda html: html.replace(old, new, 1))
    one.tab.get_by_role("alert").wait_for()
    assert EN["unsafe"] in one.tab.locator("main").inner_text()
    assert one.tab.locator("form, button, input").count() == 0


def test_markup_in_texts_stays_text(opened, survey_cases):
    facts = survey_cases.facts()
    facts["questions"]["way"] |= {"categories": [MARKUP, "</script><script>alert(1)</script>"],
                                  "ask": MARKUP, "help": MARKUP, "labels": {}}  # fmt: skip
    facts |= {"title": "</title><script>alert(1)</script>", "who": MARKUP, "text": MARKUP}
    facts.pop("send_to")
    one = opened(facts=facts)
    one.tab.get_by_label(MARKUP).first.check()
    one.tab.get_by_role("button", name=EN["draw"]).click()
    assert one.tab.locator("img, b").count() == 0
    assert one.tab.title() == facts["title"]
    assert MARKUP in one.tab.locator("tbody").inner_text()
    assert one.said == []


def test_a_keyboard_is_enough(opened, collector):
    one = opened()
    press = one.tab.keyboard.press

    def focused():
        return one.tab.evaluate("document.activeElement.id || document.activeElement.value || ''")

    seen = []
    for _ in range(12):
        press("Tab")
        seen.append(focused())
        if seen[-1] == "no answer":  # of the first question: two up
            press("ArrowDown")
            press("ArrowDown")
        elif seen[-1] == "q_minutes":
            one.tab.keyboard.type("20")
        elif seen[-1] == "seats":
            press("Space")
        elif seen[-1] == "draw":
            press("Enter")
            break
    assert seen[0] == "language"
    assert seen[-1] == "draw"
    assert focused() == "sent"
    answered = [row.split("\t")[1] for row in one.tab.locator("tbody tr").all_inner_texts()]
    assert answered[0] == "by bicycle"
    assert answered[1] == "20"
    assert answered[3] == "more seats"
    for _ in range(3):
        press("Tab")
        if focused() == "send":
            press("Enter")
            break
    one.tab.get_by_text(EN["accepted"]).wait_for()
    assert len(collector.lines) == 1
    assert focused() == "send"


def test_what_is_no_number_is_said_before_anything_is_drawn(opened):
    one = opened()
    for typed in ("abc", "121", "-1", "1e2"):
        one.tab.get_by_label("How many minutes did it take?").fill(typed)
        one.tab.get_by_role("button", name=EN["draw"]).click()
        assert one.tab.get_by_text(EN["wrong"].format(lower=0, upper=120)).is_visible()
        assert one.tab.evaluate("document.activeElement.id") == "q_minutes"
        assert one.tab.locator("#sent").count() == 0
    assert one.tab.evaluate("localStorage.length") == 0


def test_languages_change_and_answers_stay(opened):
    one = opened(locale="fr-FR")
    assert one.tab.locator("html").get_attribute("lang") == "fr"
    one.tab.get_by_label("en bus").check()
    one.tab.get_by_label("Combien de minutes").fill("12")
    one.tab.get_by_label("Langue").select_option("en")
    assert one.tab.get_by_label("by bus").is_checked()
    assert one.tab.get_by_label("How many minutes did it take?").input_value() == "12"
    assert one.tab.evaluate("document.activeElement.id") == "language"


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("dark", NARROW)], ids=["light desktop", "dark phone"]
)
def test_axe_finds_nothing(opened, scheme, size):
    one = opened(viewport=size, color_scheme=scheme, bypass_csp=True)
    assert violations(one.tab) == []
    answer(one.tab)
    one.tab.get_by_text(EN["check"]).click()
    assert violations(one.tab) == []


def test_from_right_to_left(opened, survey_cases, collector):
    facts = arabic(survey_cases.facts(send_to=f"{collector.base}/reports"))
    one = opened(facts=facts, viewport=NARROW, bypass_csp=True)
    assert one.tab.locator("html").get_attribute("dir") == "rtl"
    assert overflow(one.tab) <= 0
    box = one.tab.locator("input[type=radio]").first.bounding_box()
    assert box["x"] > NARROW["width"] / 2
    assert violations(one.tab) == []


def test_the_page_talks_to_one_address(opened, collector):
    one = opened()
    asked = """(url) => fetch(url).then(() => "allowed", () => "refused")"""
    assert one.tab.evaluate(asked, f"{collector.base}/other") == "refused"
    assert one.tab.evaluate(asked, f"{collector.base}/reports") == "allowed"
    inline = "() => { const s = document.createElement('script'); s.append('window.ran = 1'); "
    one.tab.evaluate(inline + "document.body.append(s); }")
    assert one.tab.evaluate("window.ran") is None


@pytest.mark.parametrize("epsilon", [0.1, 1, 4, 8])
def test_the_promise_is_computed_from_epsilon(opened, epsilon):
    one = opened(facts={"epsilon": epsilon})
    promised = EN["promise"].format(percent=sure(one.survey.schema.epsilon))
    assert one.tab.get_by_text(promised).is_visible()
    assert one.tab.get_by_text(EN["weak"]).is_visible() == (epsilon > 2.2)


@pytest.mark.slow
def test_twelve_questions_take_twenty_milliseconds(opened, survey_cases):
    columns = list(survey_cases.columns().values())[:10]
    from sourdine.local import Number, Schema
    from sourdine.survey import form_for_device

    columns += [Number(0, 120, 1), Number(0, 200, 1, method="laplace")]
    schema = Schema.of({f"c{i}": column for i, column in enumerate(columns)}, epsilon=4)
    form = form_for_device(schema)
    answers = {
        c["name"]: "35" if c["kind"] == "number" else c["answers"][0] for c in form["columns"]
    }
    tab = opened().context.new_page()
    took = tab.evaluate(
        """async ([source, form, answers]) => {
          const made = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          const { record } = await import(made), took = [];
          for (let i = 0; i < 30; i++) {
            const start = performance.now();
            record(form, answers);
            took.push(performance.now() - start);
          }
          return took.sort((a, b) => a - b)[5];
        }""",
        [survey_cases.DEVICE.read_text(), form, answers],
    )
    assert took < 20
