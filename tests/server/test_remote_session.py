"""A session on a server does what a session does: the same calls, on the same data."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from threading import Thread

import httpx
import pytest

import sourdine as sd
from serving import data_file, filled_store, served
from session_calls import AGE, AGES, CALLS
from sourdine import Remote, central, questions
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError
from sourdine.noise import SeededSource
from sourdine.parameters import converters
from sourdine.plan import Plan
from sourdine.privacy import SUBSTITUTE, Guarantee
from sourdine.results.release import Release
from sourdine.server.store.base import Dataset
from sourdine.session import Session, Terms
from sourdine.session.charges import read_budget


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote")
    path, address = data_file(folder, AGES), f"sqlite:///{folder}/store.db"
    store, tokens = filled_store(address, path, Terms(total=Guarantee(1)))
    with served(address) as url, Remote(url, tokens["anna"]) as remote:
        yield store, path, remote
    store.close()


NUMBERS = count()


@pytest.fixture
def session(place):
    """Return what opens a session on a new data set of a server."""
    store, path, remote = place

    def opened(*, epsilon=1, delta=None, reserve=None, relation="add_remove", unit=None, rows=1):
        total, decides = read_budget(epsilon, delta, None, reserve, converters.relation(relation))
        name = f"ages-{next(NUMBERS)}"
        terms = Terms(total=total, filter=decides, unit=unit, rows=rows)
        store.datasets.add(Dataset(name=name, terms=terms, source=str(path), n_about=600))
        store.grants.give(name, "anna", 1000)
        return remote.session(name)

    return opened


@pytest.mark.slow
@pytest.mark.parametrize("shape", [{}, {"relation": "substitute"}, {"unit": "who", "rows": 2}])
def test_methods_release_what_the_functions_release(session, place, shape):
    mine = session(epsilon=20, **shape)
    for kind, parameters in CALLS:
        release = getattr(mine, kind)(**parameters, epsilon=0.5)
        yours = getattr(sd, kind)(str(place[1]), **parameters, **shape, epsilon=0.5)
        assert type(release) is type(yours)
        assert release.mechanism == yours.mechanism
        assert release.cost == yours.cost
        assert release.caveats == yours.caveats
        assert Release.from_json(release.to_json()) == release


@pytest.mark.slow
def test_each_call_is_charged_its_cost(session):
    s = session(epsilon=20)
    for number, (kind, parameters) in enumerate(CALLS, 1):
        release = getattr(s, kind)(**parameters, epsilon=0.25)
        charge = s.history[-1]
        assert charge.number == number
        assert charge.cost == release.cost
        assert charge.mechanism == str(release.mechanism)
        asked = json.loads(release.to_json())["question"]
        asked.pop("missing", None)  # settled by how a file is read
        said = json.loads(charge.parameters)
        said.pop("missing", None)
        assert said == asked
        assert charge.release == release
        assert charge.answer == release.to_json()
    assert s.remaining.epsilon == 20 - Fraction(len(CALLS), 4)
    assert "mean of age" in str(s)


@pytest.mark.slow
def test_error_targets_are_charged_the_epsilon_they_need(session):
    s = session()
    release = s.count(error=30)
    assert s.spent.epsilon == release.cost.epsilon == central.Count(error=30).epsilon


def test_a_refusal_is_said_as_a_session_says_it(session):
    s = session(epsilon=3)
    s.count(epsilon=2.6)
    text = "Budget exceeded: requested epsilon=0.5, 0.4 of 3 remaining. Use epsilon=0.4 or less."
    with pytest.raises(BudgetExceededError, match=re.escape(text)):
        s.mean(**AGE, epsilon=0.5)
    assert len(s.history) == 1


WRONG = [
    ("mean", {"column": "agge", "bounds": (0, 120), "epsilon": 0.1}),
    ("mean", {"column": "age", "epsilon": 0.1}),
    ("count", {"by": "sexx", "keys": ["f"], "epsilon": 0.1}),
    ("count", {"bonds": 1, "epsilon": 0.1}),
    ("mean", {**AGE}),
    ("count", {"epsilon": 0.1, "delta": 0.05}),
    ("sum", {**AGE, "epsilon": 0.1, "delta": 0.05}),
    ("count", {"epsilon": 0.1, "n": "nonsense"}),
    ("count", {"epsilon": 0.1, "relation": SUBSTITUTE}),
    ("count", {"epsilon": 0.1, "unit": "who"}),
    ("count", {"epsilon": 0.1, "rows": 2}),
    ("count", {"epsilon": 0.1, "source": SeededSource(1)}),
]


def test_a_wrong_parameter_costs_nothing_and_is_said_alike(session, place):
    s, own = session(), Session(str(place[1]), epsilon=1)
    for kind, parameters in WRONG:
        with pytest.raises(SourdineError) as theirs:
            getattr(s, kind)(**parameters)
        with pytest.raises(SourdineError) as mine:
            getattr(own, kind)(**parameters)
        assert type(theirs.value) is type(mine.value)
        assert str(theirs.value) == str(mine.value)
    assert s.history == []


def test_a_question_may_be_read_from_json_and_asked(session):
    s = session()
    asked = questions.read({"statistic": "median", **AGE, "epsilon": 0.25})
    assert s.ask(asked).mechanism == asked
    for name, other in {"relation": "substitute", "unit": "who", "rows": 2}.items():
        with pytest.raises(ParameterError, match=f"{name} must be omitted: (the|a) session"):
            s.ask(central.Count(epsilon=0.1, **{name: other}))
    with pytest.raises(ParameterError, match="source must be omitted: a session"):
        s.ask(central.Count(epsilon=0.1, source=SeededSource(1)))
    with pytest.raises(ParameterTypeError, match="question must be a question about a column"):
        s.ask("count")
    assert len(s.history) == 1


@pytest.mark.slow
def test_planning_is_free_and_bound_to_what_is_left(session):
    s = session(unit="who", rows=2, relation="substitute")
    s.count(epsilon=0.5)
    plan = s.plan.count()
    assert isinstance(plan, Plan)
    assert plan.epsilon == Fraction(1, 2)
    assert (plan.question.rows, plan.question.relation) == (2, SUBSTITUTE)
    assert plan.fits
    too_much = s.plan.mean(n=300, error=0.1, **AGE)
    assert not too_much.fits
    assert too_much.target == 0.1
    wanted = [s.plan.count(error=5), s.plan.mean(n=300, error=3, **AGE)]
    both = s.plan.together(wanted)
    assert both.epsilon <= Fraction(1, 2)
    assert len(s.history) == 1
    releases = s.ask_all(both)
    assert [release.cost.epsilon for release in releases] == [plan.epsilon for plan in both]


def test_whether_a_question_could_be_asked(session):
    s = session(epsilon=3, delta=1e-6)
    own = Session(AGES, epsilon=3, delta=1e-6)
    for one in (s, own):
        one.count(epsilon=0.1)
    assert str(s.can_release.count(epsilon=0.1)) == str(own.can_release.count(epsilon=0.1))
    assert not s.can_release("count", epsilon=4)
    assert str(s.remaining) == str(own.remaining)
    assert str(s.spent) == str(own.spent)
    assert len(s.history) == 1


def test_unknown_categories_spend_delta(session):
    s = session(delta=1e-5, reserve=1e-5)
    s.histogram(column="sex", categories="unknown", epsilon=0.5, delta=1e-6)
    assert s.remaining.delta == Fraction(9, 10**6)
    with pytest.raises(
        BudgetExceededError, match="requested delta=1e-05, 9e-06 of 1e-05 remaining"
    ):
        s.histogram(column="sex", categories="unknown", epsilon=0.1, delta=1e-5)


@pytest.mark.slow
def test_tables_and_descriptions_come_from_afar(session):
    s = session(epsilon=30, delta=1e-5, reserve=1e-5)
    table = s.table(of={"age": ["mean"], "*": ["count"]}, bounds={"age": (0, 120)}, epsilon=4)
    assert set(table.value) == {"mean of age", "count"}
    assert s.describe(epsilon=4).to_json()
    assert len(s.history) == 2


def test_the_signatures_are_those_of_a_session():
    from inspect import signature

    from sourdine.client.session import RemoteSession

    for name in [*questions.STATISTICS, "describe"]:
        assert signature(getattr(RemoteSession, name)) == signature(getattr(Session, name))


def test_a_session_prints_and_names_its_data(session, place):
    s = session()
    assert repr(s) == ("<RemoteSession: epsilon 0 spent of epsilon 1, one record added or removed>")
    assert s.facts["n"] == 600
    assert s.name in [one["name"] for one in place[2].datasets]
    assert repr(place[2]).startswith("<Remote: http://127.0.0.1:")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_proxy_sees_no_token_for_this_machine(host, monkeypatch):
    """What is sent to a server on this machine goes there, whatever proxy the environment names."""
    seen = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("authorization")))
            self.send_error(404)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr("sourdine.client.connection.ATTEMPTS", 1)
        with Remote(f"http://{host}:1", "secret-token") as remote, pytest.raises(SourdineError):
            _ = remote.datasets
        with httpx.Client() as usual:  # the proxy is one: other programs ask it
            usual.get("http://127.0.0.1:1/other")
        proxy.shutdown()
    assert seen == [("http://127.0.0.1:1/other", None)]
