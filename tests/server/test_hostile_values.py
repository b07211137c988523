"""Every parameter and every route, with values that nobody types: refused, and never a 5xx."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import msgspec
import pytest

from guarded import guarded, label_file
from serving import Api, called, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine.errors import SourdineError
from sourdine.parameters.question import parameters
from sourdine.privacy import Guarantee
from sourdine.questions import QUESTIONS
from sourdine.server import releases
from sourdine.server.app import API
from sourdine.server.auth import new_token
from sourdine.server.state import ServerSettings, ServerState
from sourdine.session import Terms

HOSTILE = [
    *("", " ", "x,g", "\n", "a\nb", '"', '"' + "x" * 400, "1" * 400, "0." + "0" * 300 + "1"),
    *("1e285", "1" + "0" * 285, "-1", "nan", "inf", "1/0", "find", "unknown", "*", "' OR 1=1 --"),
    *(0, -1, 1e-30, 1e30, 1e308, 10**400, 2**63, True, None),
    *([], {}, [[]], [{}], {"": ""}, {"x": {}}, {"x": []}, {"age": 1}, [None], ["age", "age"]),
    *([0, 10**285], [10**30, -(10**30)], [0, "1" + "0" * 285], {"age": [0, 1e300]}),
]
ASKED = {
    "count": {},
    "table": {"of": {"age": ["mean"]}, "bounds": {"age": [0, 120]}},
    "proportion": {"column": "sex", "category": "f"},
    "mode": {"column": "sex", "categories": ["f", "m"]},
    "describe": {"columns": ["age"]},
    "quantiles": {"column": "age", "bounds": [0, 120], "q": [0.5]},
    "quantile": {"column": "age", "bounds": [0, 120], "q": 0.5},
    "histogram": {"column": "age", "bounds": [0, 120], "bins": 4},
    **{
        name: {"x": "age", "y": "sex", "bounds": {"age": [0, 120], "sex": [0, 1]}}
        for name in ("covariance", "correlation", "regression")
    },
    "sql": {"statement": "SELECT AVG(age), COUNT(*) FROM people", "bounds": {"age": [0, 120]}},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a server whose data have no declared columns, and everybody who asks it."""
    folder = tmp_path_factory.mktemp("hostile")
    address = f"sqlite:///{folder}/store.db"
    store, _ = filled_store(address, data_file(folder, AGES), Terms(total=Guarantee(100)))
    path = label_file(folder)
    for name in ("eval", "others"):
        guarded(store, path, name)
    with served(address, folder=str(folder)) as url:
        yield SimpleNamespace(address=address, url=url, store=store)
    store.close()


def somebody(place, name):
    """Return calls by a token of their own: some routes end the one that they are called by."""
    return Api(place.url, new_token(place.store, name, "api", days=1))


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("kind", QUESTIONS)
def test_no_question_is_a_server_error(place, kind, part):
    """Every parameter that the statistic has, and some that none has; a third of the values."""
    state = ServerState(ServerSettings(store=place.address, tick=0))
    names, broken, refused = {p.name for p in parameters(QUESTIONS[kind])}, [], 0
    base = {"epsilon": 0.01, **ASKED.get(kind, {"column": "age", "bounds": [0, 120]})}
    base |= {"n": 600} if "n" in names else {}
    assert (
        called(state, "anna", releases.can_release, {"statistic": kind, **base}, "people")
        is not None
    )
    asked = sorted(names | {"source", "statistic", "", "questions"})
    thirds = [HOSTILE[i::3] for i in range(3)]
    for name, value in ((x, y) for i, x in enumerate(asked) for y in thirds[(i + part) % 3]):
        body = {"statistic": kind, **base, name: value}
        if name == "error":
            del body["epsilon"]
        for operation in (releases.plan, releases.can_release):
            try:
                called(state, "anna", operation, body)
            except SourdineError:
                refused += 1
            except Exception as error:  # noqa: BLE001 - it would be a 5xx
                broken.append((operation.__name__, name, value, repr(error)))
    state.close()
    assert broken == []
    assert refused > 33


@pytest.mark.slow
@pytest.mark.parametrize("one", API, ids=lambda one: f"{one.method} {one.path}")
def test_no_route_answers_with_a_server_error(place, one):
    """Every operation, with hostile bodies, paths and queries; by its owner and by an analyst."""
    usual = "others" if one.path.endswith("/close") else "people"
    good = {"dataset": usual, "guard": "others" if usual == "others" else "eval"}
    good |= {"number": "1", "survey": "s", "sha256": "0" * 64}
    bad = [dict.fromkeys(good, x) for x in ("%00", "..", "a%0A", "9" * 400, "%F0%9F", "*")]
    bodies = [b""] if one.method == "GET" else [b"", b"[]", b"{}", b'{"":0}', b'"x"', b"1e999"]
    for name, value in product(getattr(one.takes, "__struct_fields__", ()), HOSTILE):
        sent = str(value) if isinstance(value, int) and abs(value) > 2**63 else value
        bodies.append(msgspec.json.encode({**needed(one.takes), name: sent}))
    odd = ("", "-1", "9" * 30, "%00", "1e9")
    queries = ["", *(f"?{name}={x}" for name, x in product(one.query, odd))]
    whole, seen = "olga" if "owner" in one.roles else "anna", set()
    paths = [one.path.format(**good) + query for query in queries]
    paths += [one.path.format(**asked) for asked in (bad if "{" in one.path else [])]
    for who, path in product(("olga", "anna"), paths):
        api = somebody(place, who)
        for body in bodies if path == paths[0] and who == whole else bodies[:2]:
            headers = {"content-type": "application/json", "idempotency-key": "k" * 20}
            answer = api.client.request(one.method, path, content=body, headers=headers)
            seen.add(answer.status_code)
            assert answer.status_code < 500, (path, body[:200], answer.text)
    assert seen != {401}


def needed(struct):
    """Return a body that is nearly right."""
    good = {"name": "new", "source": "people.csv", "error": 0.1, "epsilon": 1, "analyst": "anna"}
    good |= {"team": "anna", "submissions": 1, "predictions": [0, 1], "password": "x", "days": 1}
    return {name: good[name] for name in struct.__struct_fields__ if name in good}


@pytest.mark.slow
def test_predictions_of_any_shape_are_refused(place):
    anna = somebody(place, "anna")
    for sent in ('"' + "x" * 200_000, '"\n' * 2000, "\0" * 2000, ("a" * 140_000 + ",b\n") * 2):
        lines = sent if sent.count("\n") else sent + "\n0" * 1999
        answer = anna.post(
            "/guards/eval/submissions", {"predictions": lines}, key="0123456789-predicted"
        )
        problem(answer, 422, "parameter")
