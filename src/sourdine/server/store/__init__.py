"""Where a server keeps charges, answers and people: one database, shared by all workers."""

from sourdine.server.store.base import (
    AskedQuestions,
    Dataset,
    Grant,
    Guard,
    KeyedRequest,
    KeyReusedError,
    Meta,
    NotGrantedError,
    Person,
    StoredRelease,
    Submission,
    SurveyEntry,
    TeamGrant,
    Token,
    fingerprint,
)
from sourdine.server.store.checks import DatasetCheck
from sourdine.server.store.store import ServerStore
from sourdine.server.store.witness import Witness

__all__ = [
    "AskedQuestions",
    "Dataset",
    "DatasetCheck",
    "Grant",
    "Guard",
    "KeyReusedError",
    "KeyedRequest",
    "Meta",
    "NotGrantedError",
    "Person",
    "ServerStore",
    "StoredRelease",
    "Submission",
    "SurveyEntry",
    "TeamGrant",
    "Token",
    "Witness",
    "fingerprint",
]
