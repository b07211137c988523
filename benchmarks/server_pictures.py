"""Draw the manual's pictures of the server for owners, analysts and auditors, from a running demo.

Run with ``python benchmarks/server_pictures.py docs/images``. It needs Chromium and Playwright.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

from sourdine.server.running import demo_store, serving
from sourdine.server.state import ServerSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1000, "height": 700}
DESK, PHONE = {"width": 1120, "height": 1190}, {"width": 390, "height": 1480}
MASK = """for (const one of document.querySelectorAll(".hint code"))
  if (one.textContent.startsWith("/")) one.textContent = "/srv/sourdine";"""
"""The temporary folder of the demo is replaced by a plain one."""
PEOPLE = "age,sex\n" + "".join(f"{20 + i % 60},{'fm'[i % 2]}\n" for i in range(600))


def entered(browser: Browser, url: str, name: str, password: str) -> Page:
    """Return a page of somebody who has logged in."""
    page = browser.new_context(viewport=SIZE, device_scale_factor=1.5).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{url}/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/")
    return page


def drawn(page: Page, path: Path, *, whole: bool = True) -> None:
    """Save what a page shows, in few colours, so that it stays small."""
    page.screenshot(path=path, full_page=whole)
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


def owner(page: Page, url: str, to: Path) -> None:
    """Register a data set, and grant some of it."""
    page.goto(f"{url}/register")
    page.get_by_label("path on the server").fill("people.csv")
    page.get_by_label("name", exact=True).fill("people")
    page.get_by_label("title").fill("People of the town")
    page.get_by_label("approximate number of records").fill("600")
    page.locator("#epsilon").fill("3")
    page.get_by_role("checkbox", name="age").check()
    column = page.get_by_role("group", name="age")
    column.get_by_label("from").fill("0")
    column.get_by_label("to", exact=True).fill("120")
    column.get_by_label("in steps of").fill("1")
    page.evaluate(MASK)
    page.locator("h1").click()
    drawn(page, to / "task_register.png")
    shutil.copy(to / "task_register.png", to / "server_register.png")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/manage")
    page.locator("#analyst").select_option("analyst")
    page.locator("#granted").fill("2")
    page.get_by_role("button", name="Grant").click()
    page.locator("#grants td").first.wait_for()
    drawn(page, to / "task_grant.png")


def analyst(page: Page, url: str, to: Path) -> None:
    """Plan and release the mean of the ages."""
    page.goto(f"{url}/data/people")
    page.wait_for_selector("body[data-ready]")
    page.locator("#release:enabled").click()
    page.wait_for_selector("body[data-answered='1']")
    drawn(page, to / "task_release.png")
    for name, size, scheme in (("desk", DESK, "light"), ("phone", PHONE, "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{url}/data/wages")
        page.wait_for_selector("body[data-ready]")
        page.get_by_label("statistic").select_option("histogram")
        page.wait_for_timeout(5000)
        page.locator("#release:enabled").click()
        page.wait_for_selector("body[data-answered='1']")
        page.wait_for_timeout(1000)
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        drawn(page, to / f"server_{name}.png", whole=False)


def auditor(page: Page, url: str, to: Path) -> None:
    """Check the ledger."""
    page.goto(f"{url}/data/people/ledger")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("Valid.").first.wait_for()
    drawn(page, to / "task_check.png")
    shutil.copy(to / "task_check.png", to / "server_ledger.png")


def main() -> None:
    """Draw all of them."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("to", type=Path, help="the folder")
    to = reader.parse_args().to
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("Chromium was not found.")
    with TemporaryDirectory() as folder:
        address, people = demo_store(Path(folder))
        (Path(folder) / "people.csv").write_text(PEOPLE)
        passwords = {one.name: one.password for one in people}
        settings = ServerSettings(store=address, folder=folder, tick=0)
        with serving(settings) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for work in (owner, analyst, auditor):
                work(entered(browser, url, work.__name__, passwords[work.__name__]), url, to)
            browser.close()


if __name__ == "__main__":
    main()
