"""Whole calls whose bounds or rows are found: what they cost, what they say, what they survive."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import attrs
import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.central import Mean
from sourdine.central.finding.bounds import MOST_CELLS, Candidates
from sourdine.central.finding.search import OutwardSearch
from sourdine.frames.cells import Octaves
from sourdine.frames.frame import Frame
from sourdine.noise import SYSTEM, SeededSource

NAN, INF = float("nan"), float("inf")
RNG = np.random.default_rng(11)
WAGES = RNG.lognormal(10, 1, 4000)
CALLS = {
    "mean": sd.mean,
    "sum": sd.sum,
    "variance": sd.variance,
    "histogram": lambda x, **k: sd.histogram(x, bins=5, **k),
    "quantiles": lambda x, **k: sd.quantiles(x, [0.25, 0.75], **k),
}
SOUGHT = ("find", (0, None), (None, 10**6), (0, 10**9, "find"), (-9, -1, "find"))
HOSTILE = {
    "empty": [],
    "missing": [None] * 9,
    "not a number": [NAN] * 9,
    "one": [5],
    "constant": [37.5] * 9,
    "zeros": [0] * 9,
    "infinite": [INF, -INF, 1.0] * 9,
    "huge": [10**40, -(10**40), 3] * 9,
    "texts": ["a", "1", "2e3", ""] * 9,
    "tiny": [5e-324, 1e-310, -1e-9] * 9,
    "largest": [1e308, -1e308] * 9,
    "64 bits": np.array([2**63 - 1, -(2**63)] * 9),
    "unsigned": np.array([2**64 - 1] * 9, np.uint64),
    "booleans": [True, False] * 9,
    "off the lattice": [1.7e9 + 7] * 9,
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.mark.grid(quick=0)
@every
@pytest.mark.parametrize("bounds", SOUGHT, ids=str)
def test_nothing_in_the_data_raises(call, bounds, relation):
    asked = {"bounds": bounds, "epsilon": 1, "relation": relation, "n": 1600}
    usual = call(WAGES, **asked)
    for x in HOSTILE.values() if bounds == "find" else list(HOSTILE.values())[::4]:
        release = call(x, **asked)
        assert np.isfinite(np.asarray(release.value, float)).all()
        assert release.caveats == usual.caveats
        assert release.cost == usual.cost


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("step", [1, 0.01, "1/3", 2**20, "1e-9"])
def test_no_step_meets_data_that_it_cannot_hold(step, relation):
    for call, x in product((sd.sum, sd.variance), list(HOSTILE.values())[::3]):
        release = call(x, bounds="find", step=step, epsilon=1, relation=relation, n=1600)
        low, high = (Fraction(end) for end in release.drawn["bounds"])
        found = Fraction(release.drawn["step"])
        assert (high - low) % found == 0
        assert (high - low) / found <= MOST_CELLS + 2
        assert found % Fraction(str(step)) == 0


def test_parts_add_up_to_epsilon(relation):
    for name, call in CALLS.items():
        if name == "quantiles":
            continue
        release = call(WAGES, bounds="find", epsilon=0.7, relation=relation)
        spent = {part: Fraction(str(x)) for part, x in release.drawn["spent"].items()}
        assert sum(spent.values()) == Fraction("0.7")
        assert spent["bounds"] == Fraction("0.21")
        assert ("count" in spent) == (name != "sum" and relation == "add_remove")
        assert ("centre" in spent) == (name != "sum")


@pytest.mark.slow
def test_the_search_takes_more_where_records_are_few():
    x, reached = np.random.default_rng(4).normal(50, 10, 1000), []
    for seed in range(30):
        asked = {"bounds": "find", "epsilon": 0.06, "n": 1000, "source": SeededSource(seed)}
        release = sd.mean(x, **asked)
        assert Fraction(str(release.drawn["spent"]["bounds"])) == Fraction("0.036")
        reached.append(release.drawn["bounds"][1] >= 50)
    assert np.mean(reached) > 0.8
    enough = sd.mean(x, bounds="find", epsilon=0.1, n=1000)
    assert Fraction(str(enough.drawn["spent"]["bounds"])) == Fraction("0.03")
    replaced = sd.mean(x, bounds="find", epsilon=0.1, n=1000, relation="substitute")
    assert Fraction(str(replaced.drawn["spent"]["bounds"])) == Fraction("0.06")


def test_what_is_public_is_not_paid_for():
    def parts(**more):
        return set(sd.mean(WAGES, bounds="find", epsilon=1, **more).drawn["spent"])

    assert parts() - {"edges"} == {"count", "centre", "bounds", "mean"}
    assert parts(n=3000) == {"centre", "bounds", "mean"}
    assert parts(n=4000) == {"centre", "bounds", "edges", "mean"}
    assert parts(n=600) == {"bounds", "mean"}
    one_sided = sd.mean(WAGES, bounds=(0, None), epsilon=1)
    assert set(one_sided.drawn["spent"]) == {"bounds", "mean"}


@pytest.mark.slow
def test_a_file_of_text_has_a_private_number_of_rows(tmp_path):
    path = tmp_path / "wages.csv"
    path.write_text("wage\n" + "\n".join(map(str, WAGES)))
    release = sd.mean(str(path), bounds="find", epsilon=1, relation="substitute")
    assert "count" in release.drawn["spent"]
    assert "count" not in sd.mean(
        WAGES, bounds="find", epsilon=1, relation="substitute"
    ).drawn["spent"]  # fmt: skip


NEAR = [3, 7, 0, 10, NAN, 3, -4, 1e9]


@pytest.mark.grid
@every
@pytest.mark.parametrize(
    ("bounds", "n"), [("find", 2000), ("find", 20_000), ("find", None), ((0, None), None)]
)
def test_whole_calls_hold_on_neighbours(call, bounds, n, relation):
    def asked(x):
        return call(x, bounds=bounds, epsilon=1, relation=relation, n=n)

    others = (
        [NEAR[:i] + NEAR[i + 1 :] for i in (0, 4, 7)] + [[*NEAR, v] for v in (5, -99, NAN)]
        if relation == "add_remove"
        else [[*NEAR[:-1], v] for v in (0, 10, -1e9, NAN, INF)]
    )
    for other in others:
        result = replay(asked, NEAR, other)
        assert result.holds, (other, result.faults)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("bounds", ["find", (0, 9)])
def test_whole_calls_of_persons_hold_on_neighbours(bounds, relation):
    """One person owns 1, 3 or 40 rows, or comes to own others."""

    def frame(owned):
        rows = [(who, v) for who, values in enumerate(owned) for v in values]
        return {"who": [who for who, _ in rows], "value": [v for _, v in rows]}

    def asked(x):
        release = sd.mean(
            x, column="value", bounds=bounds, epsilon=1, unit="who", rows="find",
            relation=relation, source=SeededSource(5),
        )  # fmt: skip
        question = attrs.evolve(release.mechanism.question, source=SYSTEM)
        return replace(release, cost=question.cost)

    people = [[1, 2], [3], [4, 4, 4], [9] * 12]
    for rows in ([5], [5, 9, 0], [7] * 40):
        other = [*people, rows] if relation == "add_remove" else [rows, *people[1:]]
        result = replay(asked, frame(people), frame(other))
        assert result.holds, result.faults


def test_the_rows_found_are_those_that_few_people_pass():
    who = np.repeat(np.arange(3000), np.random.default_rng(11).poisson(3, 3000) + 1)
    seeded = SeededSource(4)  # 4 draws of 1,000 find more than 12
    release = sd.count({"who": who}, unit="who", rows="find", epsilon=1, source=seeded)
    assert 6 <= release.drawn["rows"] <= 12
    assert abs(release.value - len(who)) < 500
    one = {"who": np.arange(3000)}
    once = sd.count(one, unit="who", rows="find", epsilon=1, source=seeded)
    assert once.drawn["rows"] == 1


def test_rows_need_a_unit_and_a_session_fixes_them(refused):
    refused(lambda: sd.count([1, 2], rows="find", epsilon=1), "unit must name the column")
    session = sd.Session({"who": [1, 2]}, epsilon=1, unit="who")
    refused(lambda: session.count(rows="find", epsilon=1), "rows must be omitted: the session")
    refused(lambda: sd.Session([1], epsilon=1, rows="find"), "rows must be a whole number")


def test_one_search_serves_all_groups():
    x = {"wage": WAGES, "sex": np.where(WAGES > 2e4, "f", "m")}
    release = sd.mean(x, column="wage", by="sex", keys=["f", "m"], bounds="find", epsilon=1)
    assert set(release.value) == {"f", "m"}
    assert "The bounds are the same for all groups." in release.caveats
    assert sd.Release.from_json(release.to_json()) == release
    true = {key: float(WAGES[x["sex"] == key].mean()) for key in "fm"}
    assert all(abs(release.value[key] - true[key]) < 0.1 * true["f"] for key in "fm")


@pytest.mark.quick_cases(1)
@every
def test_a_release_says_what_was_found(call, tmp_path):
    release = call(WAGES, bounds="find", epsilon=1)
    text = str(release)
    back = sd.Release.from_json(release.to_json())
    assert str(back) == text
    assert json.loads(release.to_json())["question"]["bounds"] == "find"
    if release.mechanism.display.head == "quantile":
        assert "a public grid" in text
    else:
        assert "\nbounds  " in text
        assert "about 20 records may lie beyond each of them" in " ".join(text.split())
        assert "\nspent   epsilon:" in text
        assert "Bounds were found privately." in text
        assert "bounds" in release._repr_html_()
        low, high = (float(Fraction(end)) for end in release.drawn["bounds"])
        assert low < high
    pytest.importorskip("matplotlib")
    release.plot(path=str(tmp_path / "found.png"))
    assert (tmp_path / "found.png").stat().st_size > 1000


def test_a_declared_side_stays_where_it_is():
    for call in (sd.mean, sd.sum, sd.variance):
        low, high = call(WAGES, bounds=(0, None), epsilon=1).drawn["bounds"]
        assert low == 0
        assert 1e5 < high < 1e7
        low, high = call(-WAGES, bounds=(None, 0), step=1, epsilon=1).drawn["bounds"]
        assert high == 0
    within = sd.mean(WAGES, bounds=(1000, 50_000, "find"), epsilon=1).drawn["bounds"]
    assert 990 < within[0] < within[1] < 50_100


def test_bounds_reach_about_as_far_as_the_data(relation):
    """With a seed: without, one in 200 finds bounds that are wider than here."""
    rng, source = np.random.default_rng(1), SeededSource(1)
    for x in (rng.normal(1e6, 1, 5000), -rng.exponential(3, 5000), rng.uniform(-2, 5, 5000)):
        found = sd.mean(x, bounds="find", epsilon=1, relation=relation, source=source)
        low, high = found.drawn["bounds"]
        inner = np.quantile(x, [0.02, 0.98])
        assert low <= inner[0]
        assert high >= inner[1]
        assert high - low < 6 * (x.max() - x.min())


def test_a_record_moves_the_counts_near_the_edges():
    """All data sets of up to 2 records in the cells of both sides, whatever is named."""
    candidates = Candidates(Octaves(step=1), 0, Fraction(-3), Fraction(3))
    sides = tuple(len(side) for side in candidates.sides.values())
    both = OutwardSearch(epsilon=1, sides=sides, relation="substitute")
    moved = set()
    for i, j in product(range(sum(sides)), repeat=2):
        x = np.bincount([i, j], minlength=sum(sides))
        for named in product(*(range(k + 1) for k in sides)):
            here = np.array(candidates.inside(x, named))
            for y in both.neighbours(x):
                apart = int(np.abs(np.array(candidates.inside(y, named)) - here).sum())
                assert apart <= (1 if x.sum() != y.sum() else 2)
                moved.add(apart)
    assert moved == {0, 1, 2}


def test_a_bound_is_nearer_where_many_records_lie_just_inside(relation):
    """Uniform numbers fill the octave before the edge; few records are not counted there."""
    x, asked = np.linspace(-60, 60, 20_000), {"bounds": "find", "relation": relation}
    release = sd.mean(x, n=20_000, epsilon=1, **asked, source=SeededSource(2))
    assert min(release.drawn["edges"]) > 2000
    assert Fraction(str(release.drawn["spent"]["edges"])) == Fraction(3, 400)
    low, high = map(float, release.drawn["bounds"])
    assert release.mechanism.edges(20_000).sensitivity == (1 if relation == "add_remove" else 2)
    assert 58 < high < 85
    assert -85 < low < -58

    def asked_of(x):
        return sd.mean(x, n=20_000, epsilon=1, **asked)

    rest = x.tolist() if relation == "add_remove" else x.tolist()[:-1]
    result = replay(asked_of, x.tolist(), [*rest, -55.0])
    assert result.holds, result.faults
    assert all(not np.array_equal(a.x, b.x) for a, b in result.steps)
    for few in (
        sd.mean(x, epsilon=0.1, **asked),
        sd.mean({"x": x, "g": ["a"] * len(x)}, column="x", by="g", keys=["a"], epsilon=1, **asked),
        sd.variance(x, epsilon=1, **asked),
        sd.mean(x, method="octaves", epsilon=1, **asked),
    ):
        assert "edges" not in few.drawn


@pytest.mark.parametrize("method", ["laplace", "exponential"])
def test_the_counts_near_the_edges_hold_for_persons(method, relation):
    """A person of three rows, all of them near the edges, comes or goes from side to side."""
    who, x = [i // 3 for i in range(60_000)], np.linspace(-60, 60, 60_000).tolist()

    def asked(data):
        return sd.mean(
            data, column="x", unit="who", rows=3, bounds="find", epsilon=1, n=60_000,
            relation=relation, method=method,
        )  # fmt: skip

    other = (
        {"who": [*who, -1, -1, -1], "x": [*x, -55.0, -56.0, 55.0]}
        if relation == "add_remove"
        else {"who": who, "x": [57.0, 56.0, 55.0, *x[3:]]}
    )
    result = replay(asked, {"who": who, "x": x}, other)
    assert result.holds, result.faults
    before, after = result.steps[2]
    moved = np.abs(np.subtract(before.x, after.x)).sum()
    assert moved == before.mechanism.sensitivity == (3 if relation == "add_remove" else 6)


@pytest.mark.slow
def test_engines_find_the_same(tmp_path):
    """Counts and sums are the same wherever the data are, so a seed gives the same answer."""
    pl, pq, pa = (pytest.importorskip(n) for n in ("polars", "pyarrow.parquet", "pyarrow"))
    x = np.round(WAGES, 2)
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"value": x}), path)
    for call in CALLS.values():
        found = {
            call(data, bounds="find", epsilon=1, source=SeededSource(3)).to_json()
            for data in (x, x.tolist(), pl.DataFrame({"value": x}).lazy(), path, Frame(x))
        }
        assert len(found) == 1


@pytest.mark.slow
def test_intervals_hold_for_the_clamped_values():
    x, misses = RNG.lognormal(0, 1, 3000), 0
    for _ in range(40):
        release = sd.mean(x, bounds="find", epsilon=0.5)
        clamped = np.clip(x, *(float(Fraction(end)) for end in release.drawn["bounds"])).mean()
        low, high = release.interval(0.9)
        misses += not low <= clamped <= high
    assert misses <= 14


def test_a_plan_says_the_shares_and_the_unit(refused):
    planned = sd.plan.mean(bounds="find", n=10_000, epsilon=1)
    assert planned.units == "found widths"
    assert "error in found widths (95%)" in str(planned)
    assert "epsilon: centre 0.0064, bounds 0.3, edges 0.0075, mean 0.6861" in str(planned)
    own = sd.plan.mean(bounds=(0, 1), n=10_000, epsilon="0.6861")
    assert planned.error == own.error
    unknown = sd.plan.variance(bounds="find", epsilon=1, n=10_000, by="sex", keys=["f", "m"])
    assert "epsilon: count 0.02, centre 0.0064, bounds 0.3, variance 0.6736" in str(unknown)
    assert sd.plan.sum(bounds=(0, None), epsilon=1).units == "found bounds"
    both = sd.plan.sum(bounds="find", epsilon=1, unit="who", rows="find")
    assert both.units == "found bounds times found rows"
    counted = sd.plan.histogram(bins=4, bounds="find", error=20)
    assert (counted.units, counted.error <= 20) == ("", True)
    assert sd.plan.median(bounds="find", n=1000, error=0.05).units == ""
    refused(lambda: sd.plan.mean(bounds="find", error=1, n=1000), "error must be omitted")


def test_data_are_passed_over_a_few_times(monkeypatch):
    """Sorted values are counted without a pass: only the sums need one.

    Whole numbers that floats do not hold need a count, the occupied cells, one table of some
    hundred cells, the sums.
    """
    passes = []

    def counting(method):
        def counted(self, cell, *rest):
            passes.append(cell.size)
            return method(self, cell, *rest)

        return counted

    for name in ("tally", "moments"):
        monkeypatch.setattr(Frame, name, counting(getattr(Frame, name)))
    sd.mean(WAGES.tolist(), bounds="find", epsilon=1)
    assert len(passes) == 1
    passes.clear()
    sd.mean([*WAGES.tolist(), 2**53 + 1], bounds="find", epsilon=1)
    assert len(passes) == 4
    assert max(size for size in passes if size < 10**5) <= 341


def test_a_session_charges_the_whole_and_no_more():
    session = sd.Session(WAGES, epsilon=1)
    session.mean(bounds="find", epsilon=0.75)
    assert session.spent.epsilon == pytest.approx(0.75)
    assert json.loads(session.history[-1].parameters)["bounds"] == "find"


@pytest.mark.slow
def test_small_epsilons_are_refused_before_any_data_are_read(refused):
    refused(lambda: sd.plan.variance(bounds="find", epsilon="1e-16", n=10), "scale must be below")
    for epsilon in ("1e-9", "1e-3", "1e-2"):
        for x in HOSTILE.values():
            sd.variance(x, bounds="find", epsilon=epsilon, n=10**8)


VISITS = {
    "who": [i // 3 for i in range(6000)],
    "x": [float(i % 50) for i in range(6000)],
    "ward": ["a", "b"] * 3000,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "found", [{"bounds": "find"}, {"bounds": (0, 60), "unit": "who", "rows": "find"}]
)
@pytest.mark.parametrize("by", [{}, {"by": "ward", "keys": ["a", "b"]}])
def test_quantiles_are_read_off_a_function_whose_bounds_or_rows_are_found(found, by):
    release = sd.cdf(VISITS, column="x", epsilon=4, **found, **by)
    medians = release.quantile(0.5).value
    for median in medians.values() if by else [medians]:
        assert 15 < median < 35
    assert type(release).from_json(release.to_json()).quantile(0.5).value == medians
    assert len(str(release).splitlines()) < 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "more"),
    [
        (sd.table, {"of": {"x": ["mean"], "*": ["count"]}, "bounds": {"x": (0, 60)}}),
        (sd.describe, {}),
    ],
)
def test_rows_are_found_for_tables_and_descriptions(asked, more):
    release = asked(VISITS, unit="who", rows="find", epsilon=4, **more)
    assert release.drawn["rows"] in {2, 3, 4}
    settled = asked(VISITS, unit="who", rows=3, epsilon=4, **more)
    assert str(release).splitlines()[0].split() == str(settled).splitlines()[0].split()
    assert type(release).from_json(release.to_json()) == release


OWNED = {
    "who": [str(i // 2) for i in range(3000)],
    "x": [i % 100 for i in range(3000)],
    "g": ["ab"[i % 3 // 2] for i in range(3000)],
}
ASKED = {
    "describe": {},
    "table": {"of": {"x": ["mean", "median"], "*": ["count"]}, "bounds": {"x": (0, 100)}},
    "cdf": {"column": "x", "bounds": (0, 100), "step": 1},
    "histogram": {"column": "g", "categories": "unknown", "delta": 1e-6},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_an_answer_looks_the_same_where_rows_were_found(name):
    ask = getattr(sd, name)
    asked = {**ASKED[name], "epsilon": 8, "source": SeededSource(3)}
    found = ask(OWNED, unit="who", rows="find", **asked)
    known = ask(OWNED, unit="who", rows=2, **asked)
    assert type(found) is type(known)
    assert found.sheet().heads == known.sheet().heads
    assert len(found.sheet().lines) == len(known.sheet().lines) or name == "cdf"
    assert list(found.to_frame().columns) == list(known.to_frame().columns)
    assert str(sd.Release.from_json(found.to_json())) == str(found)
    found.plot()


def test_functions_are_read_off_where_rows_were_found():
    asked = {"unit": "who", "rows": "find", "epsilon": 8, **ASKED["cdf"]}
    assert abs(sd.cdf(OWNED, **asked).quantile(0.5).value - 49) < 5
    both = sd.cdf(OWNED, by="g", keys=["a", "b"], **asked)
    assert abs(both.probability(0, 49).value["a"] - 0.5) < 0.1


def test_rows_are_found_as_far_as_the_answer_can_carry_them():
    """A thousand rows of a person are the most where keys are unknown: nothing fails later."""
    data = {"who": ["one"] * 1 + [str(i // 1500) for i in range(60_000)], "g": ["a"] * 60_001}
    release = sd.count(
        data, unit="who", rows="find", by="g", keys="unknown", epsilon=50, delta=1e-6
    )
    assert release.drawn["rows"] == 768
    few = sd.sum({"who": ["a"], "x": [1]}, column="x", bounds=(None, 5), unit="who", rows="find",
                 epsilon=0.5)  # fmt: skip
    assert 1 < few.mechanism.candidates[-1] < 6144


def test_what_was_settled_last_may_be_forgotten_at_any_time():
    """Threads that read different releases of one question forget each other's."""

    class Forgetful(dict):
        def __setitem__(self, key, value):
            pass

    first = Mean(bounds="find", epsilon=1).estimator
    drawn = first.draw(Frame(WAGES))
    kept = first.value(drawn)
    vars(first)["_last"] = Forgetful()
    assert first.value(drawn) == kept
