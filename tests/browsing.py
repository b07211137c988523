"""What tests ask of a page in a browser."""

from __future__ import annotations

import json
import re

__all__ = ["arabic", "overflow", "violations"]


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
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    found = Axe().run(tab).response["violations"]
    return [(one["id"], one["impact"], [n["html"] for n in one["nodes"]]) for one in found]
