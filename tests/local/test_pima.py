"""Learning from the Pima diabetes table, which is read in place and never shipped."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sourdine.local.learn import NoisyGaussianNB
from sourdine.local.table.columns import Choice, Number
from sourdine.local.table.schema import Schema
from sourdine.noise import SeededSource

FOLDER = Path(os.environ.get("SOURDINE_DATA", Path(__file__).parents[3] / "shared" / "data"))
TABLE = FOLDER / "diabetes.csv"
pytestmark = pytest.mark.skipif(
    not TABLE.exists(), reason="the Pima table is not here; SOURDINE_DATA names its folder"
)
ZERO_IS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")
BOUNDS = {
    "Pregnancies": (0, 17, 1),
    "Glucose": (44, 199, 1),
    "BloodPressure": (24, 122, 1),
    "SkinThickness": (7, 99, 1),
    "Insulin": (14, 846, 1),
    "BMI": ("18.2", "67.1", "0.1"),
    "DiabetesPedigreeFunction": ("0.078", "2.42", "0.001"),
    "Age": (21, 81, 1),
}


@pytest.fixture(scope="module")
def pima():
    with TABLE.open() as lines:
        names = next(lines).strip().split(",")
        rows = np.loadtxt(lines, delimiter=",")
    table = dict(zip(names, rows.T.copy(), strict=True))
    for name in ZERO_IS_MISSING:
        column = table[name]
        column[column == 0] = np.median(column[column > 0])
    return np.column_stack([table[name] for name in BOUNDS]), table["Outcome"].astype(int)


def halves(x, y):
    return train_test_split(x, y, random_state=0, test_size=0.2)


def schema_of(method, epsilon):
    numbers = {name: Number(*map(Fraction, ends), method=method) for name, ends in BOUNDS.items()}
    return Schema.of(
        {**numbers, "Outcome": Choice(0, 1)}, epsilon=9 * Fraction(epsilon), missing="random"
    )


def test_clean_rows_give_the_accuracy_of_the_slides(pima):
    x, x_test, y, y_test = halves(*pima)
    for model in (GaussianNB(), NoisyGaussianNB()):
        guess = model.fit(x, y).predict(x_test)
        assert round(accuracy_score(y_test, guess), 6) == 0.785714
        assert round(f1_score(y_test, guess), 6) == 0.637363


def test_the_bounds_hold_the_table(pima):
    x, _ = pima
    for column, (lower, upper, _) in zip(x.T, BOUNDS.values(), strict=True):
        assert (column.min(), column.max()) == (float(lower), float(upper))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("method", "epsilon"), [("laplace", 2), ("staircase", 4), ("square-wave", 1), ("piecewise", 6)]
)
def test_never_a_point_worse_on_pima(pima, method, epsilon):
    """Over ten cleanings, less three standard errors; ``benchmarks/pima.py --knows`` has more."""
    x, x_test, y, y_test = halves(*pima)
    schema, gain = schema_of(method, epsilon), []
    for seed in range(10):
        table = {**dict(zip(BOUNDS, x.T, strict=True)), "Outcome": y}
        clean = schema.sanitize(table, source=SeededSource(seed))
        noisy = np.column_stack([clean[name] for name in BOUNDS]).astype(float)
        models = NoisyGaussianNB(schema=schema, label="Outcome"), GaussianNB()
        knows, naive = (m.fit(noisy, clean["Outcome"]).score(x_test, y_test) for m in models)
        gain.append(knows - naive)
    assert np.mean(gain) >= -0.01 - 3 * np.std(gain) / np.sqrt(len(gain))


def test_a_record_costs_nine_columns():
    assert schema_of("laplace", 1).guarantee.epsilon == 9
