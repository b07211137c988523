import importlib
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sourdine.errors import ParameterError
from sourdine.local.learn import NoisyGaussianNB, Sanitizer
from sourdine.local.learn.channels import BLANK, GROUPS, cells, features, fitted, matrix
from sourdine.local.table.columns import Choice, Flag, Number
from sourdine.local.table.schema import Schema
from sourdine.mechanisms import BoundedLaplace
from sourdine.noise import SeededSource

BY = ("laplace", "staircase", "truncated-staircase", "square-wave", "piecewise", "hybrid")
WIDE = Number(0, 100, step=1)


def two_classes(n, seed):
    """Two Gaussian classes in four columns, not in the middle of their bounds."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int64)
    mean = np.array([25, 60, 30, 20]) + np.outer(y, [8, -6, 10, 5])
    return rng.normal(mean, [8, 10, 12, 6]), y


def schema_of(method, epsilon):
    """Four columns and a label, each with this epsilon."""
    numbers = {f"x{j}": Number(0, 100, step=1, method=method) for j in range(4)}
    return Schema(**numbers, y=Choice(0, 1), epsilon=5 * epsilon, missing="random")


def randomised(schema, x, y, seed=1):
    table = {**{f"x{j}": column for j, column in enumerate(x.T)}, "y": y}
    clean = schema.sanitize(table, source=SeededSource(seed))
    return np.column_stack([clean[f"x{j}"] for j in range(4)]).astype(float), clean["y"]


@pytest.fixture(scope="module")
def people():
    return two_classes(50_000, 1)


@pytest.fixture(scope="module")
def strangers():
    return two_classes(20_000, 2)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # GaussianNB's, one class
@pytest.mark.filterwarnings("ignore:Sanitizer has no schema")
@parametrize_with_checks([NoisyGaussianNB(), Sanitizer()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", BY)
def test_three_points_better_than_naive(method, people, strangers):
    schema = schema_of(method, 2)
    x, y = randomised(schema, *people)
    naive = GaussianNB().fit(x, y).score(*strangers)
    knows = NoisyGaussianNB(schema=schema, label="y").fit(x, y)
    assert knows.score(*strangers) >= naive + 0.03
    assert knows.score(*strangers) >= GaussianNB().fit(*people).score(*strangers) - 0.02


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", BY)
def test_means_and_deviations_are_those_of_the_clean_rows(method, people):
    schema = schema_of(method, 2)
    knows = NoisyGaussianNB(schema=schema, label="y").fit(*randomised(schema, *people))
    clean = GaussianNB().fit(*people)
    assert np.abs(knows.theta_ - clean.theta_).max() < 1.5
    naive = GaussianNB().fit(*randomised(schema, *people))
    off, off_naive = (np.abs(np.log(m.var_ / clean.var_)).max() for m in (knows, naive))
    assert off < off_naive / 2
    assert np.abs(knows.class_prior_ - clean.class_prior_).max() < 0.02


@pytest.mark.slow
def test_noisy_rows_are_predicted_through_the_channel(people, strangers):
    schema = schema_of("square-wave", 2)
    knows = NoisyGaussianNB(schema=schema, label="y", predicts="noisy")
    knows.fit(*randomised(schema, *people))
    x, _ = randomised(schema, *strangers, seed=2)
    as_if_clean = clone(knows).set_params(predicts="clean").fit(*randomised(schema, *people))
    assert knows.score(x, strangers[1]) > as_if_clean.score(x, strangers[1]) + 0.02


def test_no_schema_is_gaussian_nb(people, strangers):
    with_weight = np.random.default_rng(3).random(50_000)
    for weight in (None, with_weight):
        plain, same = (m.fit(*people, weight) for m in (GaussianNB(), NoisyGaussianNB()))
        assert np.array_equal(plain.predict_proba(strangers[0]), same.predict_proba(strangers[0]))


@pytest.mark.slow
def test_parts_fit_as_the_whole_and_weights_repeat_rows():
    schema = schema_of("laplace", 3)
    x, y = randomised(schema, *two_classes(900, 4))
    y = np.asarray(y)
    whole = NoisyGaussianNB(schema=schema, label="y").fit(x, y)
    parts = NoisyGaussianNB(schema=schema, label="y")
    for rows in (slice(0, 300), slice(300, 900)):
        parts.partial_fit(x[rows], y[rows])
    assert np.array_equal(whole.theta_, parts.theta_)
    twice = clone(whole).fit(np.vstack([x, x[:300]]), np.concatenate([y, y[:300]]))
    weighed = clone(whole).fit(x, y, sample_weight=np.where(np.arange(900) < 300, 2, 1))
    assert np.allclose(twice.theta_, weighed.theta_)
    assert not np.allclose(whole.theta_, weighed.theta_)


def test_labels_without_noise_and_labels_of_any_type():
    x, y = two_classes(3000, 5)
    numbers = {f"x{j}": Number(0, 100, step=1) for j in range(4)}
    schema = Schema(**numbers, epsilon=12, missing="random")
    noisy = Sanitizer(schema, source=SeededSource(1)).fit_transform(x)
    names = np.array(["well", "ill"])[y]
    knows = NoisyGaussianNB(schema=schema).fit(noisy, names)
    assert knows.classes_.tolist() == ["ill", "well"]
    assert knows.score(x, names) > 0.75
    flagged = Schema(**numbers, y=Flag(), epsilon=15, missing="random")
    noisy, label = randomised(flagged, x, y)
    assert NoisyGaussianNB(schema=flagged, label="y").fit(noisy, label).score(x, y) > 0.75
    chosen = Schema(**numbers, y=Choice("well", "ill"), epsilon=15, missing="random")
    noisy, label = randomised(chosen, x, names)
    assert NoisyGaussianNB(schema=chosen, label="y").fit(noisy, label).score(x, names) > 0.75


def test_three_classes():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 20_000)
    x = rng.normal(20 + 25 * y, 8)[:, None]
    schema = Schema(x=Number(0, 100, 1), y=Choice(0, 1, 2), epsilon=4, missing="random")
    clean = schema.sanitize({"x": x[:, 0], "y": y}, source=SeededSource(1))
    knows = NoisyGaussianNB(schema=schema, label="y").fit(np.c_[clean["x"]], clean["y"])
    assert knows.score(x, y) > GaussianNB().fit(x, y).score(x, y) - 0.03


def test_temperature_of_a_repeated_feature_is_low():
    """The same feature four times says no more than once."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 4000)
    once = rng.normal(40 + 10 * y, 10)
    schema = schema_of("staircase", 8)
    same = NoisyGaussianNB(schema=schema, label="y")
    same.fit(*randomised(schema, np.column_stack([once] * 4), y))
    others = rng.normal((40 + 10 * y)[:, None], 10, (4000, 4))
    apart = clone(same).fit(*randomised(schema, others, y))
    assert same.temperature_ < 0.5
    assert apart.temperature_ > 0.85


def test_blanks_one_row_and_hardly_any_signal():
    numbers = {f"x{j}": Number(0, 100, 1, missing=True) for j in range(4)}
    schema = Schema(**numbers, y=Choice(0, 1), epsilon=0.01, missing="random")
    x = np.full((5, 4), np.nan)
    x[0] = 3
    knows = NoisyGaussianNB(schema=schema, label="y").fit(x, [0, 0, 1, 0, 0])
    assert np.isfinite(knows.theta_).all()
    assert np.isfinite(knows.predict_proba([[50, 50, 50, 50]])).all()
    one = clone(knows).fit([[1, 2, 3, 4]], [1])
    assert np.isfinite(one.theta_).all()


@pytest.mark.slow
def test_very_fine_grids_and_pickles():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 3000)
    x = rng.normal(0.4 + 0.2 * y, 0.1)[:, None]
    for method, step in (
        ("laplace", Fraction(1, 2**40)),
        ("staircase", None),
        ("square-wave", None),
    ):
        schema = Schema(x=Number(0, 1, step, method=method), epsilon=4, missing="random")
        noisy = Sanitizer(schema, source=SeededSource(1)).transform(x)
        knows = NoisyGaussianNB(schema=schema).fit(noisy, y)
        assert np.abs(knows.theta_.ravel() - [0.4, 0.6]).max() < 0.05
        again = pickle.loads(pickle.dumps(knows))  # noqa: S301
        assert np.array_equal(again.predict(x), knows.predict(x))


def test_frames_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    schema = schema_of("laplace", 3)
    x, y = randomised(schema, *two_classes(600, 8))
    frame = pandas.DataFrame(x, columns=["x0", "x1", "x2", "x3"])
    by_place = NoisyGaussianNB(schema=schema, label="y").fit(x, y)
    by_name = NoisyGaussianNB(schema=schema, label="y").fit(frame[["x3", "x1", "x0", "x2"]], y)
    assert np.array_equal(by_name.theta_, by_place.theta_[:, [3, 1, 0, 2]])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"label": "z"}, "label must be a column"),
        ({"label": "x0"}, "must be a Number, like all columns but the label"),
        ({"label": "y", "predicts": "dirty"}, "predicts must be"),
        ({"label": "y", "priors": [0.5, 0.6]}, "priors must be 2 shares"),
        ({}, "must be a Number, like all columns but the label"),
    ],
)
def test_bad_parameters_say_what_to_type(options, says):
    x, y = two_classes(20, 9)
    with pytest.raises(ParameterError, match=says):
        NoisyGaussianNB(schema=schema_of("laplace", 1), **options).fit(x, y)


def test_bad_rows_say_what_to_type():
    x, y = two_classes(20, 9)
    schema = schema_of("laplace", 1)
    with pytest.raises(ParameterError, match="without the label"):
        NoisyGaussianNB(schema=schema, label="y").fit(x[:, :3], y)
    with pytest.raises(ParameterError, match="y must hold only the classes"):
        NoisyGaussianNB(schema=schema, label="y").fit(x, y + 1)
    sampled = Schema.of(schema.columns, epsilon=1, method="sample", missing="random")
    with pytest.raises(ParameterError, match="method must be 'split'"):
        NoisyGaussianNB(schema=sampled, label="y").fit(x, y)
    numbers = Schema(x0=WIDE, x1=WIDE, x2=WIDE, x3=WIDE, y=WIDE, epsilon=1, missing="random")
    with pytest.raises(ParameterError, match="label must name a Choice"):
        NoisyGaussianNB(schema=numbers, label="y").fit(x, y)
    with pytest.raises(ParameterError, match="4 columns of the schema"):
        Sanitizer(Schema(a=WIDE, b=WIDE, c=WIDE, d=WIDE, epsilon=1, missing="random")).transform(
            x[:, :3]
        )


def test_sanitizer_is_the_schema():
    pandas = pytest.importorskip("pandas")
    schema = Schema(
        a=Number(0, 100, 1, method="laplace"), b=Choice("u", "v"), epsilon=2, missing="random"
    )
    frame = pandas.DataFrame({"a": [1, 50, 99], "b": ["u", "v", "?"]})
    made = Sanitizer(schema, source=SeededSource(5)).fit_transform(frame)
    expected = schema.sanitize(frame, source=SeededSource(5))
    assert made.equals(expected)
    array = Sanitizer(schema, source=SeededSource(5)).transform(frame.to_numpy())
    assert array.tolist() == expected.to_numpy().tolist()


def test_sanitizer_costs_and_never_repeats_itself():
    schema = Schema(a=WIDE, epsilon=2, missing="random")
    sanitizer = Sanitizer(schema)
    assert sanitizer.cost_ == schema.guarantee
    assert Sanitizer(schema, source=SeededSource(1)).cost_.epsilon == float("inf")
    assert Sanitizer().cost_.epsilon == float("inf")
    x = np.full((200, 1), 50)
    assert not np.array_equal(sanitizer.transform(x), sanitizer.transform(x))


def test_sanitizer_takes_any_value():
    schema = Schema(a=WIDE, b=WIDE, epsilon=1, missing="random")
    dirty = np.array([[np.nan, 1e300], [-np.inf, 3], ["text", None]], object)
    clean = Sanitizer(schema).fit(dirty).transform(dirty)
    assert np.isfinite(clean.astype(float)).all()
    assert Sanitizer(schema).transform(np.zeros((0, 2))).shape == (0, 2)


def test_pipeline_and_names():
    schema = Schema(
        **{f"x{j}": Number(0, 100, 1, method="laplace") for j in range(4)},
        epsilon=40,
        missing="random",
    )
    x, y = two_classes(2000, 10)
    line = make_pipeline(Sanitizer(schema, source=SeededSource(1)), NoisyGaussianNB(schema=schema))
    assert line.fit(x, y).named_steps["sanitizer"].get_feature_names_out().tolist() == [
        f"x{j}" for j in range(4)
    ]


def test_gradient_of_the_cells():
    nodes, mean, deviation = np.linspace(0, 1, 9), np.array([0.3, 0.9]), np.array([0.2, 0.1])
    _, by_mean, by_log = cells(mean, deviation, nodes)
    h = 1e-6
    up, down = (cells(mean + s, deviation, nodes)[0] for s in (h, -h))
    assert np.allclose((up - down) / (2 * h), by_mean, atol=1e-6)
    up, down = (cells(mean, deviation * np.exp(s), nodes)[0] for s in (h, -h))
    assert np.allclose((up - down) / (2 * h), by_log, atol=1e-6)


def test_expected_counts_give_the_law_back():
    nodes = np.linspace(0, 1, 101)
    channel = matrix(BoundedLaplace(epsilon=3, last=100))
    joint = np.array([[0.8, 0.2], [0.2, 0.8]]) * [0.6, 0.4]
    f, _, _ = cells(np.array([0.35, 0.45]), np.array([0.1, 0.12]), nodes)
    found = fitted(1e7 * joint @ (f @ channel), joint, channel, nodes)
    assert np.allclose(found.mean, [0.35, 0.45], atol=0.005)
    assert np.allclose(np.sqrt(found.variance), [0.1, 0.12], atol=0.01)
    nothing = fitted(np.zeros((2, channel.shape[1])), joint, channel, nodes)
    assert np.allclose(nothing.mean, 0.5)


@pytest.mark.parametrize("method", [*BY, "duchi"])
def test_shown_numbers_are_read_back_as_their_reports(method):
    schema = Schema(x=Number(0, 30, step=0.5, method=method), epsilon=2, missing="random")
    feature = features(schema, None)["x"]
    codes = np.arange(feature.part.answer.codes)
    shown = np.asarray(feature.part.written.values(codes), float)
    assert len(codes) <= GROUPS
    assert feature.groups(shown).tolist() == codes.tolist()
    assert feature.groups(np.array([np.nan])).tolist() == [BLANK]
    assert np.allclose(feature.matrix.sum(axis=1), 1)
    law = feature.part.answer.law(60).pmf(codes)
    assert np.allclose(feature.matrix[-1], law)


@pytest.mark.slow
def test_scikit_learn_is_loaded_for_learning_only():
    code = "import sys, sourdine.local; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    learn = importlib.import_module("sourdine.local.learn")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="This needs the 'learn' extra"):
        importlib.reload(learn)


def test_no_cell_of_a_row_changes_another():
    schema = Schema(a=Number(0, 120, 1), b=Number(0, 1, 0.5), epsilon=400, missing="random")
    plain = [[True, 0.5]] * 50
    for odd in ([1j, 0.5], ["secret", 0.5], [[1, 2], 0.5], [None, None], [10**400, float("nan")]):
        clean = Sanitizer(schema).transform([*plain, odd])
        assert clean.shape == (51, 2)
        assert (clean[:50, 0] == 1).all()
    with pytest.raises(ParameterError, match="rows of the 2 columns") as refused:
        Sanitizer(schema).transform([[4711, 1, 2]])
    assert "4711" not in str(refused.value)


def test_blanks_become_nan():
    schema = Schema(
        a=Number(0, 9, 1, missing=True), b=Number(0, 1, 0.5), epsilon=0.1, missing="random"
    )
    clean = Sanitizer(schema).transform([[3, 0.5]] * 200)
    assert 0 < np.isnan(clean[:, 0]).sum() < 200
    assert not np.isnan(clean[:, 1]).any()
