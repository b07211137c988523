"""The address of each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from sourdine.server import guards as guard_operations
from sourdine.server import people, releases
from sourdine.server import surveys as survey_operations
from sourdine.server.pages import administration, analyst, surveys
from sourdine.server.pages import guards as holdouts
from sourdine.server.pages.administration import login
from sourdine.server.pages.rendering import filled, page, static
from sourdine.server.requests import OVERSEERS

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


DATA, GUARD, SURVEY = "/data/{dataset}", "/guard/{guard}", "/surveys/{survey}"
EVERYBODY = {
    "/": analyst.home,
    "/tokens": analyst.tokens,
    DATA: analyst.desk,
    f"{DATA}/plan": analyst.plan,
    f"{DATA}/together": analyst.together,
    f"{DATA}/history": analyst.history,
    f"{DATA}/releases/{{number}}": analyst.release,
    f"{DATA}/releases/{{number}}/{{format}}": analyst.download,
    "/guards": holdouts.guards,
    GUARD: holdouts.guard,
    f"{GUARD}/told": holdouts.told,
    f"{GUARD}/leaderboard": holdouts.leaderboard,
    "/surveys": filled("surveys.html", surveys=survey_operations.surveys),
    SURVEY: surveys.survey,
    f"{SURVEY}/part": surveys.part,
}
OWNERS = {
    "/people": filled("people.html", people=people.people),
    "/register": administration.register,
    f"{DATA}/manage": administration.manage,
    "/guards/register": filled("guard_register.html"),
    f"{GUARD}/teams": holdouts.teams,
    "/draft": surveys.draft,
    "/survey-check": surveys.check,
    f"{SURVEY}/preview": surveys.preview,
}
OF_OVERSEERS = {
    f"{DATA}/ledger": administration.ledger,
    f"{DATA}/check": filled("check.html", check=releases.check),
    f"{GUARD}/ledger": holdouts.ledger,
    f"{GUARD}/check": filled("check.html", check=guard_operations.check_guard),
}
POSTED = {f"{DATA}/plan", f"{DATA}/together", "/survey-check"}
"""Pages that are asked for with a body."""
PAGES: tuple[BaseRoute, ...] = (
    Route("/login", login),
    Route("/static/{mark}/{name}", static),
    *(
        Route(path, page(shows, roles=roles), methods=["POST" if path in POSTED else "GET"])
        for roles, pages in (((), EVERYBODY), (("owner",), OWNERS), (OVERSEERS, OF_OVERSEERS))
        for path, shows in pages.items()
    ),
)
"""All pages, beside the API."""
