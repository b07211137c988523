"""The address of each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from sourdine.server.pages import administration, analyst, surveys
from sourdine.server.pages import guards as holdouts
from sourdine.server.pages.administration import login
from sourdine.server.pages.rendering import page, static
from sourdine.server.requests import OVERSEERS

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


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
    Route("/", page(analyst.home)),
    Route("/tokens", page(analyst.tokens)),
    Route("/people", page(administration.people_page, roles=OWNER)),
    Route("/register", page(administration.register, roles=OWNER)),
    Route(DATA, page(analyst.desk)),
    Route(f"{DATA}/plan", page(analyst.plan), methods=["POST"]),
    Route(f"{DATA}/together", page(analyst.together), methods=["POST"]),
    Route(f"{DATA}/history", page(analyst.history)),
    Route(f"{DATA}/releases/{{number}}", page(analyst.release)),
    Route(f"{DATA}/releases/{{number}}/{{format}}", page(analyst.download)),
    Route(f"{DATA}/manage", page(administration.manage, roles=OWNER)),
    Route(f"{DATA}/ledger", page(administration.ledger, roles=OVERSEERS)),
    Route(f"{DATA}/check", page(administration.check, roles=OVERSEERS)),
    *GUARDS,
    *SURVEYS,
    Route("/static/{mark}/{name}", static),
)
"""All pages, beside the API."""
