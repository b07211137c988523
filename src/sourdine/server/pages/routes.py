"""The address of each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from sourdine.server.incoming import OVERSEERS
from sourdine.server.pages import desk, downloads, holdouts, oversight, surveys
from sourdine.server.pages.entrance import login
from sourdine.server.pages.rendering import static
from sourdine.server.pages.visiting import page

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

__all__ = ["PAGES"]

DATA, GUARD, SURVEY = "/data/{dataset}", "/guard/{guard}", "/surveys/{survey}"
OWNER = ("owner",)
GUARDS = (
    Route("/guards", page(holdouts.guards)),
    Route("/guards/register", page(holdouts.register, roles=OWNER)),
    Route(GUARD, page(holdouts.guard)),
    Route(f"{GUARD}/told", page(holdouts.told)),
    Route(f"{GUARD}/leaderboard", page(holdouts.leaderboard)),
    Route(f"{GUARD}/teams", page(holdouts.teams, roles=OWNER)),
    Route(f"{GUARD}/ledger", page(holdouts.ledger, roles=OVERSEERS)),
    Route(f"{GUARD}/check", page(holdouts.check, roles=OVERSEERS)),
)
SURVEYS = (
    Route("/surveys", page(surveys.listing)),
    Route("/draft", page(surveys.draft, roles=OWNER)),
    Route("/survey-check", page(surveys.check, roles=OWNER), methods=["POST"]),
    Route(SURVEY, page(surveys.survey)),
    Route(f"{SURVEY}/part", page(surveys.part)),
    Route(f"{SURVEY}/preview", page(surveys.preview, roles=OWNER)),
)
PAGES: tuple[BaseRoute, ...] = (
    Route("/login", login),
    Route("/", page(desk.home)),
    Route("/tokens", page(desk.tokens)),
    Route("/people", page(oversight.people, roles=OWNER)),
    Route("/register", page(oversight.register, roles=OWNER)),
    Route(DATA, page(desk.desk)),
    Route(f"{DATA}/plan", page(desk.plan), methods=["POST"]),
    Route(f"{DATA}/together", page(desk.together), methods=["POST"]),
    Route(f"{DATA}/history", page(desk.history)),
    Route(f"{DATA}/releases/{{number}}", page(desk.release)),
    Route(f"{DATA}/releases/{{number}}/{{format}}", page(downloads.download)),
    Route(f"{DATA}/manage", page(oversight.manage, roles=OWNER)),
    Route(f"{DATA}/ledger", page(oversight.ledger, roles=OVERSEERS)),
    Route(f"{DATA}/check", page(oversight.check, roles=OVERSEERS)),
    *GUARDS,
    *SURVEYS,
    Route("/static/{mark}/{name}", static),
)
"""All pages, beside the API."""
