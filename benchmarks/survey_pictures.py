"""Draw the manual's pictures of surveys: the page, its results, and those of a server.

Run with ``python benchmarks/survey_pictures.py docs/images``. It needs Chromium and Playwright.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from server_pictures import PROGRAMS, drawn, entered
from sourdine.server.running import demo_store, open_sample, serving
from sourdine.server.state import ServerSettings
from sourdine.survey import Survey, page
from sourdine.survey.demo import simulated
from sourdine.survey.document import SKELETON
from sourdine.survey.page import words
from sourdine.survey.results import results, results_page
from sourdine.survey.store import Posted, SurveyStore

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EN = words("en")
PLACE = "http://127.0.0.1:8000/commute/"
"""Where the page of the skeleton is; what is fetched from there is answered here."""
WIDE, PHONE = {"width": 760, "height": 700}, {"width": 390, "height": 700}
SERVER = {"width": 1280, "height": 920}
PEOPLE = 2000
EDITED = {
    '"commute"': '"commute-2027"',
    '["en", "fr"]': '["en"]',
    "epsilon = 1": "epsilon = 2",
    'method = "split"': 'method = "sample"',
}
"""What an owner changed in the skeleton."""


def opened(browser: Browser, html: bytes, size: Any, scheme: Any = "light") -> Page:
    """Return a tab that shows a page."""
    context = browser.new_context(
        viewport=size, device_scale_factor=1.5, color_scheme=scheme, locale="en-GB"
    )
    tab = context.new_page()
    tab.route(f"{PLACE}**", lambda one: one.fulfill(body=html, content_type="text/html"))
    tab.goto(PLACE)
    return tab


def answered(tab: Page) -> None:
    """Answer everything, and draw."""
    tab.get_by_label("by bus").check()
    tab.get_by_label("How many minutes did it take?").fill("35")
    tab.get_by_role("group", name="Were you late").get_by_label("Yes").check()
    tab.get_by_label("shelters").check()
    tab.get_by_role("button", name=EN["draw"]).click()
    tab.locator("section pre").wait_for()
    tab.evaluate("document.activeElement.blur()")


def respondent(browser: Browser, to: Path) -> None:
    """Answer a survey, wide and on a phone; look at a round of another."""
    facts = tomllib.loads(SKELETON)
    html = page(Survey.from_facts(facts))
    for name, size, scheme in (("page", WIDE, "light"), ("phone", PHONE, "dark")):
        tab = opened(browser, html, size, scheme)
        answered(tab)
        drawn(tab, to / f"survey_{name}.png")
    late = {"late": facts["questions"]["late"]}
    several = facts | {"questions": late, "rounds": 52, "epsilon": 2}
    tab = opened(browser, page(Survey.from_facts(several).round(3)), PHONE)
    drawn(tab, to / "survey_round.png")


def collected(browser: Browser, to: Path, folder: Path) -> None:
    """Show what simulated people have answered."""
    facts = tomllib.loads(SKELETON) | {"epsilon": 2, "method": "sample"}
    survey = Survey.from_facts(facts)
    store, _ = SurveyStore.create(folder / "commute.db", survey)
    lines, _ = simulated(survey, PEOPLE)
    for first in range(0, PEOPLE, 500):
        part = lines[first : first + 500]
        store.accept([Posted(lines=[line.encode() for line in part])])
    store.fold()
    tab = opened(browser, results_page(results(store)), {"width": 900, "height": 700})
    drawn(tab, to / "survey_results.png")
    store.close()


def owner(tab: Page, url: str, to: Path) -> None:
    """Write a survey on a server, and look at one that is open."""
    tab.set_viewport_size(SERVER)
    tab.goto(f"{url}/draft")
    tab.get_by_text("Import a survey.toml").click()
    one = SKELETON
    for old, new in EDITED.items():
        one = one.replace(old, new)
    tab.get_by_label("or paste it here").fill(one)
    tab.get_by_role("button", name="Fill in the form").click()
    tab.get_by_label("people (approx.)").fill("2000")
    tab.get_by_text("Accuracy with 2000 people").wait_for()
    tab.evaluate("scrollTo({ top: 0, behavior: 'instant' }); document.activeElement.blur()")
    drawn(tab, to / "server_survey_draft.png", whole=False)
    tab.goto(f"{url}/surveys/commute")
    tab.get_by_text("How did you come today?").first.wait_for()
    drawn(tab, to / "server_survey.png", whole=False)


def main() -> None:
    """Draw all of them."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("to", type=Path, help="the folder")
    to = reader.parse_args().to
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("Chromium was not found.")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        respondent(browser, to)
        collected(browser, to, Path(folder))
        address, people = demo_store(Path(folder))
        passwords = {one.name: one.password for one in people}
        with serving(ServerSettings(store=address, folder=folder, tick=0)) as url:
            open_sample(address, url)
            owner(entered(browser, url, "owner", passwords["owner"]), url, to)
        browser.close()


if __name__ == "__main__":
    main()
