"""Optimal designs: exact channels, certificates that hold, estimates that are unbiased."""

from __future__ import annotations

import tomllib
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

from sourdine import local
from sourdine.audit import p_value
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.memory import Column
from sourdine.grid import Grid
from sourdine.local.designs import channels as designs_known
from sourdine.local.designs import design as designs
from sourdine.local.designs.channels import (
    NUMBERS,
    TABLE,
    UNIT,
    fault,
    known,
    likelier,
    matrix,
    nearest,
    parse,
    reversed_subset,
    thinned,
    written,
)
from sourdine.local.designs.design import Design, DesignEstimate, monotone, value_of, workload
from sourdine.local.designs.numbers import FINEST, DesignedReport, best, designed
from sourdine.local.designs.solver import Solution, Workload, bound, every_subset, solve
from sourdine.local.estimators.distribution import QuantileEstimate, SmoothFit, distribution
from sourdine.local.estimators.means import mean
from sourdine.local.numeric.sliding import square_wave
from sourdine.noise import SeededSource
from sourdine.results.release import Release
from sourdine.survey import Survey
from sourdine.survey.document import SKELETON
from sourdine.survey.form import form_for_device
from sourdine.survey.page import page
from survey_device import read

QUESTIONS = ("distribution", "shares", "mean")


def made(question="distribution", epsilon=1, categories=5):
    return local.design(question, epsilon, categories=categories, progress=False)


# ---- The exact channel ---------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.25", "1", "2.5", "4"])
def test_channels_are_certified(epsilon):
    d = made(epsilon=Fraction(epsilon))
    assert d.weights.sum(axis=0).tolist() == [1 << 40] * 5
    with localcontext(prec=60):
        e = Decimal(epsilon).exp()
        ratios = [Decimal(max(row)) / Decimal(min(row)) for row in d.weights.tolist()]
    assert max(ratios) <= e
    assert max(ratios) > e * (1 - Decimal("1e-10"))  # and none of epsilon is wasted


@pytest.mark.parametrize("epsilon", ["0.05", "1", "2.5", "12"])
def test_the_ratio_is_at_most_that_of_epsilon(epsilon):
    with localcontext(prec=60):
        ratio = likelier(Fraction(epsilon))
        found = Decimal(ratio.numerator) / Decimal(ratio.denominator) / Decimal(epsilon).exp()
        assert 1 - Decimal(2) ** -60 < found <= 1


def test_sums_that_pass_64_bits_are_refused():
    """The columns add up to 2**64 units too many, which is 0 for whole numbers of 64 bits."""
    ratio, lows, left = likelier(Fraction(12)), [], 2**64 + UNIT - 2**30

    def both(low):
        return low * ratio.numerator // ratio.denominator + low

    while left - both(UNIT - 1) > UNIT:
        lows.append(UNIT - 1)
        left -= both(UNIT - 1)
    while left > 4 * ratio:
        lows.append(min(int(left / (float(ratio) + 1.0001)), UNIT - 1))
        left -= both(lows[-1])
    assert 0 < left <= 4 * ratio
    twice = tuple(low for low in lows for _ in range(2))
    with pytest.raises(ParameterError, match="weights of at most"):
        Design(epsilon=12, categories=2, question="shares", subsets=(1, 2) * len(lows), lows=twice)


def test_a_rest_that_tells_too_much_is_refused():
    with pytest.raises(ParameterError, match="ratios"):
        Design(epsilon=1, categories=2, question="shares", subsets=(1,), lows=(5 << 36,))
    with pytest.raises(ParameterError, match="at least one unit"):
        Design(epsilon=1, categories=2, question="shares", subsets=(1, 2), lows=(1 << 39,) * 2)
    with pytest.raises(ParameterError, match="lows"):
        Design(epsilon=1, categories=2, question="shares", subsets=(1, 2), lows=(1 << 38, 0))
    with pytest.raises(ParameterError, match="subsets"):
        Design(epsilon=1, categories=2, question="shares", subsets=(1, 4), lows=(1 << 38,) * 2)


@pytest.mark.parametrize("question", QUESTIONS)
def test_alias_tables_hold_the_exact_law(question):
    d = made(question)
    tables = designs._alias_tables(d)
    slots = tables.slots
    for u in range(d.categories):
        own = slice(u * slots, (u + 1) * slots)
        held = np.zeros(slots, object)
        sides = zip(tables.place[own], tables.alias[own], tables.packed[own], strict=True)
        for slot, (at, other, packed) in enumerate(sides):
            assert 0 <= at <= UNIT
            held[slot] += int(at)
            held[other] += UNIT - int(at)
            assert packed >> 16 == min(int(at) >> 24, (1 << 16) - 1)
            assert packed & (1 << 16) - 1 == slot ^ other
        assert held[: d.codes].tolist() == [slots * w for w in d.weights[:, u].tolist()]
        assert not held[d.codes :].any()


class Bytes:
    """Gives one word to each person, then the bytes of a whole number."""

    private = True

    def __init__(self, words, rest):
        self.given = [np.array(words, "<u4").tobytes(), rest.to_bytes(3, "little")]

    def bytes(self, count):
        found = self.given.pop(0)
        assert len(found) == count
        return found


def test_bits_that_are_alike_are_drawn_further():
    """A slot's boundary has 40 bits; the first 16 decide unless they are those of the draw."""
    d = made()
    tables = designs._alias_tables(d)
    differs = tables.packed & (1 << 16) - 1 != 0
    cell = int(np.flatnonzero(differs & (tables.place & (1 << 24) - 1 > 0))[0])
    slot, u = cell % tables.slots, cell // tables.slots
    head, tail = divmod(int(tables.place[cell]), 1 << 24)
    alias = int(tables.alias[cell])
    for first, more, expected in [
        (head - 1, 0, slot),
        (head + 1, 0, alias),
        (head, tail - 1, slot),
        (head, tail, alias),
    ]:
        source = Bytes([first << 16 | slot], more)
        assert d.reports(np.array([u]), source).tolist() == [expected]
        assert len(source.given) == (0 if first == head else 1)


def test_blocks_of_people_are_drawn_alike(monkeypatch):
    d, codes = made(), np.arange(1000) % 5
    whole = d.randomise(codes, source=SeededSource(1))
    monkeypatch.setattr(designs, "CHUNK", 1)
    tally = np.zeros((5, d.codes))
    for u in range(5):
        tally[u] = d.tally(d.randomise([u] * 200, source=SeededSource(u)))
    assert whole.max() < d.codes
    assert np.abs(tally / 200 - d.rows()).max() < 0.15


def test_designs_travel_as_json():
    d = made("mean", Fraction(1, 2), 4)
    again = Design.from_dict(d.to_dict())
    assert again == d
    assert again.digest == d.digest
    assert made("mean", Fraction(1, 2), 5).digest != d.digest


# ---- Certificates --------------------------------------------------------------------------------


def test_two_categories_are_randomised_response():
    e = np.e
    assert solve(np.eye(2), 1.0).value == pytest.approx(e / (e - 1) ** 2, rel=1e-3)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_no_channel_is_below_the_bound(question, epsilon):
    k, rng = 5, np.random.default_rng(1)
    w = workload(question, k)
    best = solve(w, epsilon)
    assert best.every
    assert best.bound <= best.value <= 1.01 * best.bound
    e = np.exp(epsilon)
    channels = [np.exp(epsilon * np.eye(k)) / (k - 1 + e)]
    for part in (0.2, 0.4, 0.6):  # pairs of a subset and its complement add up
        rows = np.where(rng.random((k, 40)) < part, e, 1.0) * rng.random(40)
        pairs = np.column_stack([rows, rows.max(axis=0) + rows.min(axis=0) - rows])
        channels.append(pairs / pairs.sum(axis=1, keepdims=True))
    between = np.exp(epsilon * rng.random((k, 40)))  # not extreme
    pairs = np.column_stack([between, between.max(axis=0) + between.min(axis=0) - between])
    channels.append(pairs / pairs.sum(axis=1, keepdims=True))
    for channel in channels:
        ratio = channel.max(axis=0) / channel.min(axis=0)
        assert ratio.max() <= e * (1 + 1e-9)
        assert value_of(channel, w) >= best.bound * (1 - 1e-9)


def test_the_value_is_that_of_the_channel():
    for question in QUESTIONS:
        w = workload(question, 6)
        best = solve(w, 1.0)
        weights = np.where(best.subsets, np.e, 1.0)
        rows = (best.theta[:, None] * weights).T
        assert np.allclose(rows.sum(axis=1), 1, atol=1e-6)
        assert value_of(rows, w) == pytest.approx(best.value, rel=1e-4)
        assert made(question, 1, 6).value() == pytest.approx(best.value, rel=5e-3)


def test_symmetry_loses_nothing(monkeypatch):
    w = workload("distribution", 6)
    found = solve(w, 1.0)
    monkeypatch.setattr(
        "sourdine.local.designs.solver._symmetries", lambda gram: np.arange(len(gram))[None]
    )
    assert solve(w, 1.0).value == pytest.approx(found.value, rel=0.005)


def test_flipping_bits_finds_the_best_subsets(monkeypatch):
    w = workload("distribution", 9)
    every = solve(w, 1.0)
    monkeypatch.setattr("sourdine.local.designs.solver.ALL_SUBSETS", 8)
    climbed = solve(w, 1.0)
    assert not climbed.every
    assert climbed.value == pytest.approx(every.value, rel=0.01)


def test_a_poor_channel_has_a_poor_certificate():
    k, w = 5, workload("distribution", 5)
    single = np.eye(k, dtype=bool)
    response = Solution(
        subsets=single, theta=np.full(k, 1 / (k - 1 + np.e)), value=0, bound=0, every=True
    )
    best = solve(w, 1.0)
    assert bound(w, 1.0, response) < 0.9 * best.value
    assert bound(w, 1.0, best) == pytest.approx(best.bound, rel=0.01)


def test_orbits_hold_all_subsets():
    question = Workload(workload("distribution", 5), 1.0)
    first = question.representatives(every_subset(5))
    images = {row.tobytes() for p in question.symmetries for row in first[:, p]}
    assert len(question.symmetries) == 2
    assert len(images) == 2**5 - 2
    assert len(first) == (2**5 - 2 + 2**3 - 2) // 2  # palindromes are their own images


# ---- The table -----------------------------------------------------------------------------------


def test_the_table_is_near_the_bound():
    spans = [Fraction(e) for e in ("0.25", "0.5", "1", "2", "3", "4")]
    for table in (TABLE, NUMBERS):
        assert {(k, e) for k in range(2, 17) for e in spans} <= set(known(table))
    assert {(FINEST, e) for e in spans} <= set(known(NUMBERS))
    for k, epsilon in [(4, Fraction(1, 4)), (6, Fraction(1)), (8, Fraction(4)), (10, Fraction(1))]:
        d, w = made(epsilon=epsilon, categories=k), workload("distribution", k)
        inside = np.array([[s >> u & 1 for u in range(k)] for s in d.subsets], bool)
        channel = Solution(
            subsets=inside, theta=np.array(d.lows) / UNIT, value=0, bound=0, every=True
        )
        assert d.value() <= 1.01 * bound(w, float(epsilon), channel)


@pytest.mark.parametrize(("k", "value"), [(10, 3.82), (16, 5.01), (32, 7.08), (64, 9.53)])
def test_the_table_has_the_variances_of_the_guide(k, value):
    assert made(categories=k).value() <= 1.002 * value


def test_the_table_is_small():
    folder = files("sourdine.local.designs")
    assert sum(len((folder / table).read_bytes()) for table in (TABLE, NUMBERS)) < 500_000


# ---- Any epsilon, and texts ----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "0.7", "1.5", "5", "12"])
def test_a_known_design_fits_any_epsilon(epsilon):
    e = Fraction(epsilon)
    k, subsets, lows = nearest(9, e)
    weights = matrix(subsets, lows, e, k)
    assert k == 9
    assert fault(weights, e) is None
    assert weights[-1].max() < UNIT >> 7
    w = workload("distribution", k)
    if epsilon == "1.5":
        assert value_of(weights.T / UNIT, w) < 1.03 * solve(w, 1.5).value
    if e > 4:
        assert value_of(weights.T / UNIT, w) < made(epsilon=4, categories=k).value()


@pytest.mark.parametrize("epsilon", ["0.05", "1", "12"])
@pytest.mark.parametrize("k", [17, 60, 101])
def test_categories_of_the_largest_design_are_a_design(k, epsilon):
    """They are known as well as by the largest, and what is alike for all costs nothing."""
    e = Fraction(epsilon)
    most, *whole = thinned(FINEST, e, NUMBERS)
    count, subsets, lows = thinned(k, e, NUMBERS)
    assert (most, count) == (FINEST, k)
    weights = matrix(subsets, lows, e, k)
    assert fault(weights, e) is None
    assert parse(written(count, subsets, lows)) is not None  # every output tells something
    assert {(reversed_subset(s, k), low) for s, low in zip(subsets, lows, strict=True)} == set(
        zip(subsets, lows, strict=True)
    )
    mean = (np.arange(k) - (k - 1) / 2)[:, None]
    kept = np.rint(np.linspace(0, FINEST - 1, k) - 1e-9 * mean.ravel()).astype(int)
    rows = matrix(*whole, e, FINEST).T[kept] / UNIT
    for asked in ("distribution", "mean"):
        w = workload(asked, k)
        assert value_of(weights.T / UNIT, w) < 1.001 * value_of(rows, w)


@pytest.mark.parametrize(("k", "epsilon"), [(24, 1), (48, 1), (48, 4)])
def test_little_is_lost_with_the_other_categories(k, epsilon, monkeypatch):
    e, held = Fraction(epsilon), designs_known.sizes(NUMBERS)
    own = matrix(*nearest(k, e, NUMBERS)[1:], e, k)
    monkeypatch.setattr(designs_known, "sizes", lambda _: [size for size in held if size != k])
    weights = matrix(*thinned(k, e, NUMBERS)[1:], e, k)
    for asked in ("distribution", "mean"):
        w = workload(asked, k)
        assert value_of(weights.T / UNIT, w) < 1.1 * value_of(own.T / UNIT, w)


def test_a_text_is_a_channel():
    for k in (2, 7, 32):
        own = nearest(k, Fraction(2), NUMBERS)
        again = parse(written(*own))
        assert again[0] == own[0]
        assert sorted(zip(*again[1:], strict=True)) == sorted(zip(*own[1:], strict=True))
    for wrong in (None, 3, "", "3", "3 1:", "3 8:1", "3 7:1", "3 0:1", "3 1:0", "3  1:1", "03 1:1"):
        assert parse(wrong) is None


# ---- Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("last", "nodes"), [(1, 2), (7, 8), (16, 17), (120, 121), (10**6, 121)])
def test_designed_numbers_are_unbiased(last, nodes):
    """The scores are the same floats on every machine, so they are compared with some."""
    report = designed(1, last)
    assert report.steps + 1 == nodes
    scores = report.estimates(np.arange(report.codes))
    assert len(np.unique(scores)) == report.codes
    assert np.abs(report.rows() @ scores - report.nodes()).max() < 1e-9 * last
    best = report.design.value("mean") * (last / report.steps) ** 2
    even = report.variance(report.nodes()).mean()
    assert best * (1 - 1e-9) <= even < 1.001 * best


def test_draws_of_a_number_between_nodes_follow_the_law():
    report = DesignedReport(epsilon=2, last=12, channel=written(*nearest(5, Fraction(2), NUMBERS)))
    drawn = report.randomise(np.tile([0, 1, 2], 40_000), source=SeededSource(1))
    for x in range(3):
        assert p_value(drawn[x::3], report.law(x)) > 1e-9
        assert p_value(drawn[x::3], report.law((x + 1) % 3)) < 1e-9


def test_designed_numbers_know_the_mean_too():
    """Their own workload: little is lost for the distribution, and the mean is known as well."""
    k = 12
    alone, both = made(categories=k), designed(1, k - 1).design
    wave = square_wave(1, k - 1)
    assert both.value() < 1.12 * alone.value()
    assert both.value() < 0.52 * value_of(wave.rows(), workload("distribution", k))
    assert both.value("mean") < 0.9 * alone.value("mean")
    assert designed(1, k - 1).variance(range(k)).max() < wave.variance(range(k)).max()


def test_a_channel_is_for_its_epsilon():
    text = designed(1, 12).channel
    assert DesignedReport(epsilon=1, last=12, channel=text) == designed(1, 12)
    for epsilon in (Fraction(1, 2), 2):
        with pytest.raises(ParameterError, match="channel must be made for epsilon"):
            DesignedReport(epsilon=epsilon, last=12, channel=text)
    for last, wrong in [(11, text), (12, "12"), (12, 7)]:
        with pytest.raises(ParameterError, match="channel must be the text of a design"):
            DesignedReport(epsilon=1, last=last, channel=wrong)


@pytest.mark.parametrize(
    "channel", ["4 6:42b28d8e 9:42b28d8e", "5 3:a3d70a3 15:3771239d a:3771239d"]
)
def test_channels_that_report_nodes_alike_are_refused(channel):
    """They are as private as others, but there is nothing to estimate: also in a schema."""
    k, subsets, lows = parse(channel)
    assert fault(matrix(subsets, lows, Fraction(1), k), Fraction(1)) is None
    with pytest.raises(ParameterError, match="channel must distinguish all nodes"):
        DesignedReport(epsilon=1, last=20, channel=channel)
    column = local.Number(0, 20, step=1, method="design", channel=channel)
    with pytest.raises(ParameterError, match="channel must distinguish all nodes"):
        local.Schema(x=column, epsilon=1)


def test_the_known_designs_tell_all_nodes_apart():
    for epsilon in (Fraction(1, 20), Fraction(1), Fraction(12)):
        for last in (1, 2, 19, 47, 99, 120, 1000):
            assert designed(epsilon, last).steps == min(last, 120)


def test_auto_takes_what_knows_the_distribution_better():
    for epsilon, last in [(1, 120), (Fraction(1, 4), 9), (4, 1000)]:
        assert isinstance(best(Fraction(epsilon), last), DesignedReport)
    assert best(Fraction(1, 30), 120) == square_wave(Fraction(1, 30), 120)
    assert best(Fraction(20), 120) == square_wave(20, 120)


@pytest.mark.slow
def test_designs_know_quantiles_better_up_to_a_number_of_people():
    """Reports as they are expected: up to 121 ticks every one is a node, for any number."""
    lengths = {}
    for last in (47, 60, 120, 1000):
        for report in (designed(2, last), square_wave(2, last)):
            for n in (10_000, 10**7):
                tally = np.rint(n * report.rows().mean(axis=0)).astype(np.int64)
                found = QuantileEstimate(report=report, grid=Grid(0, last, 1), q=(0.25, 0.5, 0.75))
                low, high = found.ends(tally, 0.05, "sample")
                lengths[last, n, type(report).__name__] = float((high - low).mean()) / last
    for last in (47, 60, 120):
        assert lengths[last, 10_000, "DesignedReport"] < lengths[last, 10_000, "SlidingWindow"]
        assert lengths[last, 10**7, "DesignedReport"] <= lengths[last, 10**7, "SlidingWindow"]
    assert lengths[1000, 10_000, "DesignedReport"] < lengths[1000, 10_000, "SlidingWindow"]
    assert lengths[1000, 10**7, "DesignedReport"] > 0.015


def test_a_schema_holds_its_channels():
    age = local.Number(0, 120, step=1, method="auto")
    schema = local.Schema(age=age, epsilon=1)
    column = schema.columns["age"]
    assert (column.method, column.channel) == ("design", designed(1, 120).channel)
    assert local.Schema.from_facts(schema.facts()) == schema
    assert schema.columns["age"].channel in schema.to_toml()
    assert "channel" not in repr(schema)
    other = written(*nearest(16, Fraction(1), NUMBERS))
    changed = local.Schema(
        age=local.Number(0, 120, step=1, method="design", channel=other), epsilon=1
    )
    assert changed.fingerprint != schema.fingerprint
    assert changed.parts()["age"].answer.channel == other
    half = local.Schema(age=local.Number(0, 120, step=1, method="design", missing=True), epsilon=1)
    assert half.columns["age"].channel == designed(Fraction(3, 4), 120).channel
    with pytest.raises(ParameterError, match="channel must be made for epsilon 2"):
        local.Schema(age=column, epsilon=2)
    with pytest.raises(ParameterError, match="channel must be omitted"):
        local.Number(0, 120, step=1, channel=other)


@pytest.mark.parametrize(("lower", "step"), [(10**6, "1/10"), (10**12, "1"), (-(10**16), "1")])
def test_outputs_of_designs_differ_in_tables_far_from_0(lower, step):
    """There floats are further apart than some estimates: a table was written, but never read."""
    step = Fraction(step)
    column = local.Number(lower, lower + 20 * step, step, method="design")
    schema = local.Schema(x=column, epsilon=1, missing="random")
    part = schema.parts()["x"]
    codes = np.arange(part.answer.codes)
    estimates = part.answer.estimates(codes)
    shown = part.written.values(codes)
    assert len(np.unique(shown)) == len(set(part.written.texts(codes))) == len(codes)
    assert (shown[estimates.argsort()] == np.sort(shown)).all()
    data = {"x": [float(lower + step * (i % 5)) for i in range(500)]}
    clean = schema.sanitize(data, source=SeededSource(1))
    reports = part.read_back(part.written_cell.slots(Column.of(clean["x"])))
    assert (shown[reports] == clean["x"]).all()
    assert sum(schema.estimate(clean).mean("x").drawn["tally"]) == 500


def test_a_channel_travels_with_a_survey():
    facts = tomllib.loads(SKELETON)
    facts["questions"]["minutes"]["method"] = "auto"
    survey = Survey.from_facts(facts)
    (part,) = [c for c in form_for_device(survey.schema)["columns"] if c["name"] == "minutes"]
    column = survey.schema.columns["minutes"]
    assert part["method"] == "design"
    assert part["channel"] == column.channel
    assert column.channel.encode() in page(survey)
    again = Survey.from_facts(survey.facts())
    assert again.fingerprint == survey.fingerprint
    assert again.schema.columns["minutes"].channel == column.channel
    channel = designed(1, 2).channel
    left = int(designed(1, 2).design.weights[-1].min())
    uneven = f"{channel} 2:{int(0.32 * left) >> 8:x}"  # what is left is likelier at the ends
    form = form_for_device(
        local.Schema(few=local.Number(0, 2, 1, method="design", channel=channel), epsilon=1)
    )
    form["columns"][0]["channel"] = uneven
    with pytest.raises(ParameterError, match="form must cost no more than it says"):
        read(form)
    plain = Survey.from_facts(tomllib.loads(SKELETON))
    assert plain.schema.columns["minutes"].facts().keys().isdisjoint({"method", "channel"})


@pytest.mark.slow
def test_frequencies_are_as_smooth_as_the_reports_say():
    """Even answers are found even; a step is found where the reports show one."""
    report, rng = designed(2, 31), np.random.default_rng(1)
    rows = report.rows()
    fit = SmoothFit(rows.T)
    step = np.where(np.arange(32) < 8, 0.1, 0.2 / 24)
    for truth, most, rough in [(np.full(32, 1 / 32), 0.003, False), (step, 0.02, True)]:
        tally = rng.multinomial(200_000, truth @ rows)
        found, models = fit.best(tally)
        assert np.abs(np.cumsum(found - truth)).max() < most
        assert np.allclose(fit.again(tally, models), found, atol=1e-3)
        assert found.sum() == pytest.approx(1)
        assert (models[0].scale > 0.5) is rough
    for counts in (np.zeros(report.codes), np.eye(report.codes)[3] * 1e6, np.ones(report.codes)):
        assert np.isfinite(fit.best(counts)[0]).all()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("shape", "draw"),
    [
        ((), lambda rng: rng.random(100_000)),
        (("x",), lambda rng: rng.exponential(0.2, 150_000)),
        (("log x", "log(1 - x)"), lambda rng: rng.beta(2, 5, 100_000)),
        (("log x", "log(1 - x)", "x", "x^2"), lambda rng: rng.normal(0.5, 0.17, 200_000)),
    ],
)
def test_shapes_are_known_from_the_reports(shape, draw):
    """A law of a known shape is found as well as the mean allows, by that shape or a part of it."""
    rng = np.random.default_rng(5)
    x = draw(rng)
    x = x[(x >= 0) & (x < 1)]
    report = designed(1, 127)
    truth = np.bincount((x * 128).astype(np.int64), minlength=128) / len(x)
    tally = report.tally(report.randomise((x * 128).astype(np.int64), source=SeededSource(2)))
    nodes = report.nodes()
    hats = np.array([np.interp(np.arange(128), nodes, hat) for hat in np.eye(len(nodes))])
    found, models = SmoothFit(report.rows().T, hats).best(tally)
    assert set(models[0].shape) <= set(shape)
    assert np.abs(np.cumsum(found - truth)).mean() < 0.005


def test_estimates_of_designed_numbers_are_read_again():
    report = designed(1, 20)
    tally = report.tally(report.randomise([7] * 500, source=SeededSource(1)))
    assert distribution(report, tally, Grid(0, 20, 1)).mechanism.method == "smooth"
    found = mean(report, tally, Grid(0, 20, 1))
    again = Release.from_dict(found.to_dict())
    assert again == found
    assert again.interval() == found.interval()


# ---- Estimates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_scores_are_unbiased(question, asked):
    if question == "mean" and asked != "mean":
        return  # its channel is for one number
    d = made(question)
    score = DesignEstimate(design=d, question=asked).score()
    assert np.abs(d.rows() @ score.g - workload(asked, 5).T).max() < 1e-6


@pytest.mark.slow
def test_intervals_cover():
    d, rng = made(), np.random.default_rng(3)
    people = rng.multinomial(3000, [0.5, 0.3, 0.0, 0.15, 0.05])
    truth = np.cumsum(people)[:-1] / 3000
    held, wide = [], []
    for _ in range(300):
        tally = sum(rng.multinomial(c, row) for c, row in zip(people, d.rows(), strict=True))
        low, high = d.estimate(tally).interval(0.9)
        held.append((low <= truth) & (truth <= high))
        wide.append(high - low)
    shares = np.mean(held, axis=0)
    assert shares.min() > 0.84
    assert shares.max() < 0.99
    assert np.mean(wide) < 2 * 1.645 * 1.2 * np.sqrt(d.value() / 3000)


def test_estimates_are_made_possible():
    d = made()
    tally = np.zeros(d.cells, int)
    tally[0] = 7
    cdf = d.estimate(tally)
    assert (np.diff(cdf.value) >= 0).all()
    assert cdf.value.min() >= 0
    assert cdf.value.max() <= 1
    shares = d.estimate(tally, question="shares").value
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    raw = d.estimate(tally, raw=True).value
    assert raw.min() < 0 or raw.max() > 1
    low, high = cdf.interval(0.95)
    assert (low <= high).all()
    assert Release.from_dict(cdf.to_dict()) == cdf


def test_nobody_reported():
    d = made("mean")
    none = d.estimate(np.zeros(d.cells, int))
    assert none.value == 2.0
    assert none.interval(0.95) == (0.0, 4.0)


def test_a_matrix_is_a_question():
    d = local.design([[1, 1, 0, 0], [0, 0, 5, 0]], 2, progress=False)
    found = d.estimate(d.tally(d.randomise([2] * 4000, source=SeededSource(1))))
    assert found.value.round(0).tolist() == [0, 5]
    with pytest.raises(ParameterError, match="that differ by"):
        local.design([[1, 1, 1]], 1)
    for wrong in (
        [[0, 1e-320, 0]],
        [[0, 1e300]],
        [[0, float("inf")]],
        3,
        {1: 2},
        [1, 2],
        [[1, 2], [1]],
        [[1, "a"]],
        [[1, float("nan")]],
    ):
        with pytest.raises((ParameterError, ParameterTypeError), match="question"):
            local.design(wrong, 1)
    with pytest.raises(ParameterError, match="categories"):
        local.design("shares", 1)


def test_tallies_and_stored_designs_that_cannot_be_are_refused():
    d = made("shares")
    for wrong in (-1, 2**53 + 1):
        with pytest.raises(ParameterError, match="tally must be"):
            d.estimate(np.array([wrong, *[1] * (d.cells - 1)], object).astype(np.int64))
    with pytest.raises(ParameterError, match="tally must be"):
        d.estimate(np.full(d.cells, 2**64 - 1, np.uint64))
    facts = d.to_dict()
    assert Design.from_dict(facts) == d
    for name in ("question", "subsets", "lows", "epsilon", "categories"):
        for wrong in (None, 3.5, [None], {"a": 1}, "zz", "1/0"):
            with pytest.raises((ParameterError, ParameterTypeError)):
                Design.from_dict({**facts, name: wrong})
        with pytest.raises(ParameterError, match="to_dict"):
            Design.from_dict({k: v for k, v in facts.items() if k != name})


def test_monotone_is_the_nearest():
    rng = np.random.default_rng(1)
    y = rng.normal(size=7)
    found = monotone(y)
    assert (np.diff(found) >= 0).all()
    for _ in range(200):
        other = np.sort(rng.normal(size=7))
        assert (y - found) @ (other - found) <= 1e-9  # the cone's nearest point
