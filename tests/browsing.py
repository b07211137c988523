"""What tests ask of a page in a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import contextmanager

import pytest

from programs import found

__all__ = ["arabic", "chromium_running", "overflow", "violations"]


def overflow(tab):
    """Return by how many pixels a page is wider than its window."""
    return tab.evaluate("document.documentElement.scrollWidth - innerWidth")


def arabic(facts):
    """Return a survey of which every text is its English one, said to be Arabic."""
    text = json.dumps(facts | {"languages": ["ar"]}, ensure_ascii=False)
    whole = json.loads(re.sub(r'\{"en": ("[^"]*"), "fr": "[^"]*"\}', r"\1", text))
    return whole | {"title": "كيف تأتي إلى العمل؟"}


def violations(tab):
    """Return what axe-core finds on a page."""
    from axe_playwright_python.sync_playwright import Axe

    wrong = Axe().run(tab).response["violations"]
    return [(one["id"], one["impact"], [n["html"] for n in one["nodes"]]) for one in wrong]


@contextmanager
def chromium_running(what):
    """Yield a running browser; while it runs, its loop is that of the thread."""
    names = (
        os.environ.get("SOURDINE_BROWSER", ""),
        "chromium",
        "chromium-browser",
        "google-chrome",
    )
    name = next((name for name in names if shutil.which(name)), "chromium")
    path = found(name, "SOURDINE_BROWSER", f"{what} NOT TESTED in a browser")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
