"""Questions of which several answers may be ticked."""

from __future__ import annotations

from math import exp

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.cells import Ticked
from sourdine.frames.frame import Frame
from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema, estimate
from sourdine.local.categorical.unary import FlippedSet
from sourdine.local.reports.records import to_lines
from sourdine.local.table.crossed import axis
from sourdine.noise import SeededSource

WORDS = ("tv", "web", "radio")
MEDIA = Choices(*WORDS)
SCHEMA = Schema(
    media=MEDIA, vote=Choice("yes", "no", method="response"), epsilon=6, missing="random"
)
HOSTILE = [
    "tv", "web;tv", " radio ;\ttv", "", None, ";", ";;;", "TV", "tv,web", "podcast", "tv;podcast",
    "tv;tv;tv", "web;\n", "<b>;radio", "ra dio", "tv;web;radio", "'tv'", "tv\u00a0",
]  # fmt: skip
TICKED = [1, 3, 5, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 4, 0, 7, 0, 0]


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.25, 1, 3])
def test_each_choice_has_its_chances(k, epsilon):
    for flips in (None, 0, k - 1):
        made = FlippedSet(epsilon=epsilon, categories=k, flips=flips)
        p, q = made.chances
        for x in {0, 1, (1 << k) - 1, (1 << k) // 3}:
            law = made.law(x).pmf(np.arange(made.codes))
            for v in range(k):
                chance = law[made.supports(np.arange(made.codes), v)].sum()
                assert chance == pytest.approx(p if x >> v & 1 else q, rel=1e-12)
        assert float(made.miss.above()) == pytest.approx(q, rel=1e-12)
        assert made.noise_variance == pytest.approx(p * q / (p - q) ** 2, rel=1e-9)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_the_number_of_flips_is_the_best(k):
    for epsilon in (0.1, 1, 2, 5):
        every = [FlippedSet(epsilon=epsilon, categories=k, flips=t) for t in range(k)]
        best = FlippedSet(epsilon=epsilon, categories=k)
        assert best.noise_variance == min(made.noise_variance for made in every)


def test_the_table_of_variances():
    """As the docstring prints them: bits under epsilon / k, one choice of k, flipped sets."""

    def bit(epsilon):
        return exp(epsilon) / (exp(epsilon) - 1) ** 2

    columns = {0.5: (255.9, 33.1, 48.3), 1: (63.9, 9.1, 11.7), 2: (15.9, 3.2, 3.1)}
    for epsilon, printed in (columns | {4: (3.9, 1.9, 0.7)}).items():
        flipped = FlippedSet(epsilon=epsilon, categories=8).noise_variance
        found = (bit(epsilon / 8), 8 * bit(epsilon) + 7 / 4, flipped)
        assert tuple(round(x, 1) for x in found) == printed
        lines = FlippedSet.__doc__.splitlines()
        heads = next(line.split() for line in lines if line.strip().startswith("epsilon      "))
        place = heads.index(str(epsilon))
        for words, number in zip(("a bit", "one choice", "flipped sets"), printed, strict=True):
            row = next(line for line in lines if line.strip().startswith(f"{words} ")).split()
            assert float(row[place - len(heads)]) == number


def test_a_small_epsilon_costs_at_most_a_factor_of_two():
    for k in range(2, 17):
        for epsilon in (0.01, 0.1, 0.5, 1, 2, 4):
            one = k * exp(epsilon) / (exp(epsilon) - 1) ** 2 + (k - 1) / 4
            ratio = FlippedSet(epsilon=epsilon, categories=k).noise_variance / one
            assert ratio < 2
            assert ratio < 1 or epsilon < 2
            assert k < 12 or epsilon > 0.1 or abs(ratio - np.pi / 2) < 0.1


def test_draws_follow_the_law():
    made = FlippedSet(epsilon=1, categories=3)
    drawn = made.reports(np.full(200_000, 5), SeededSource(3))
    seen = np.bincount(drawn, minlength=8) / 200_000
    law = made.law(5).pmf(np.arange(8))
    assert np.abs(seen - law).max() < 7 * np.sqrt(0.25 / 200_000)


def test_the_error_is_passed_as_seldom_as_it_says():
    for k, epsilon in ((3, 1), (6, 2), (5, 6)):
        made = FlippedSet(epsilon=epsilon, categories=k)
        every = np.arange(made.codes)
        law, loss = made.law(0).pmf(every), made.loss(0, every)
        for beta in (0.5, 0.2, 0.05, 0.001):
            bound = made.error(beta)
            assert law[loss > bound].sum() <= beta
            assert bound == 0 or law[loss > bound - 1].sum() > beta * (1 - 1e-12)


def frames(folder):
    column = {"media": HOSTILE}
    path = folder / "t.parquet"
    pl.DataFrame(column).write_parquet(path)
    yield column
    yield pd.DataFrame(column)
    yield pl.DataFrame(column)
    yield pl.DataFrame(column).lazy()
    yield pa.table(column)
    yield path


def test_engines_agree_on_what_is_ticked(tmp_path):
    for frame in frames(tmp_path):
        cell = Ticked("media", WORDS, ";")
        (found,) = zip(*Frame(frame).codes(cell), strict=True)
        assert np.concatenate(found).tolist() == TICKED
        counts = Frame(frame).tally(cell).counts
        assert counts.tolist() == [*np.bincount(TICKED, minlength=8).tolist(), 0]


def test_a_csv_file_is_read_alike(tmp_path):
    path = tmp_path / "t.csv"
    words = [w for w in HOSTILE if w is None or "\n" not in w]
    pd.DataFrame({"media": words, "n": range(len(words))}).to_csv(path, index=False)
    (found,) = zip(*Frame(path).codes(Ticked("media", WORDS, ";")), strict=True)
    wanted = [code for code, w in zip(TICKED, HOSTILE, strict=True) if w is None or "\n" not in w]
    assert np.concatenate(found).tolist() == wanted


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("separator", [";", " | ", ","])
def test_every_set_is_written_and_read_back(separator, tmp_path):
    column = Choices(*WORDS, separator=separator)
    schema = Schema(media=column, epsilon=60, missing="random")
    texts = [separator.join(w for i, w in enumerate(WORDS) if code >> i & 1) for code in range(8)]
    for to in (None, tmp_path / "clean.csv", tmp_path / "clean.parquet"):
        clean = schema.sanitize(pd.DataFrame({"media": texts * 5}), to=to)
        assert estimate(clean).tallies["media"].tolist() == [5] * 8


def test_a_sampled_table_tells_nothing_ticked_from_not_asked(tmp_path):
    schema = Schema(media=MEDIA, smokes=Flag(), epsilon=40, method="sample", missing="random")
    rows = {"media": ["", "tv", "tv;web", None] * 100, "smokes": [True] * 400}
    clean = schema.sanitize(rows, to=tmp_path / "clean.csv")
    found = estimate(clean)
    assert found.reports("media") + found.reports("smokes") == 400
    assert found.dropped == {"media": 0, "smokes": 0}
    low, high = found["media"].interval(0.999)
    assert (low <= [0.5, 0.25, 0]).all()
    assert (high >= [0.5, 0.25, 0]).all()


@pytest.mark.slow
def test_shares_and_pairs_hold_the_truth():
    rng = np.random.default_rng(5)
    ticked = rng.random((8000, 3)) < [0.6, 0.3, 0.1]
    vote = np.where(ticked[:, 0], "yes", "no")
    media = [";".join(w for w, t in zip(WORDS, row, strict=True) if t) for row in ticked]
    table = {"media": media, "vote": vote.tolist()}
    clean = SCHEMA.sanitize(table, source=SeededSource(1))
    server = Aggregator(SCHEMA, pairs=[("media", "vote")])
    for sent in SCHEMA.reports(table, source=SeededSource(2)):
        assert server.add(to_lines(sent)).accepted == len(sent)
    joint = np.stack([ticked[vote == v].sum(axis=0) / 8000 for v in ("yes", "no")], axis=1)
    for found in (SCHEMA.estimate(clean, pairs=[("media", "vote")]), server.estimate()):
        low, high = found.shares("media").interval(0.9999)
        assert (low <= ticked.mean(axis=0)).all()
        assert (high >= ticked.mean(axis=0)).all()
        assert "need not sum to 1" in str(found["media"])
        low, high = found.pair("media", "vote").interval(0.9999)
        assert (low <= joint).all()
        assert (high >= joint).all()
        assert (high - low).max() < 0.1
        with pytest.raises(ParameterError, match="Omit consistent"):
            found.shares("media", consistent="norm-sub")


def test_scores_average_to_the_truth():
    part = SCHEMA.parts()["media"]
    made = axis(part, 1000)
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    laws = np.array([part.answer.law(x).pmf(np.arange(8)) for x in range(8)])
    assert np.allclose(laws @ made.scores, bits, atol=1e-12)
    square = laws @ made.scores**2
    for v in range(3):
        assert np.allclose(square[bits[:, v] == 1, v], made.own[v])
        assert np.allclose(square[bits[:, v] == 0, v], made.other[v])


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_schema_files_hold_choices(ending, tmp_path):
    schema = Schema(
        a=MEDIA,
        b=Choices("x;y", "z", separator="|"),
        n=Number(0, 9, 1),
        epsilon=1,
        missing="random",
    )
    schema.write(tmp_path / f"s.{ending}")
    assert Schema.read(tmp_path / f"s.{ending}") == schema
    assert repr(schema.columns["b"]) in repr(schema)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Choices("tv"), "choices must be from 2 to 16, got 1"),
        (lambda: Choices(*map(str, range(17))), "got 17"),
        (lambda: Choices(["tv", "web"]), r"Use Choices\(\*choices\)"),
        (lambda: Choices("tv", "tv"), "choices must be distinct"),
        (lambda: Choices("tv", " web"), "without leading or trailing blanks"),
        (lambda: Choices("tv", 3), "be strings"),
        (
            lambda: Choices("tv", "a;b"),
            r"contain neither the separator ';'.*Use separator='\|'",
        ),
        (lambda: Choices("tv", "web", separator=" "), "Use separator=';'"),
        (lambda: FlippedSet(epsilon=1, categories=3, flips=3), "flips must be below"),
    ],
)
def test_bad_choices_are_refused(make, said):
    with pytest.raises((ParameterError, ParameterTypeError), match=said):
        make()
