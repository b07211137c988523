"""Settings: what is typed, what is refused, and that each experiment uses all that it declares."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import sourdine_lab
from sourdine.errors import ParameterError
from sourdine_lab import experiments
from sourdine_lab.registry import all_experiments
from sourdine_lab.runner import folder_of
from sourdine_lab.settings import (
    DataLaw,
    Setting,
    bounds,
    integer,
    integers,
    law,
    number,
    numbers,
    orders,
    text,
    word,
    words,
    written,
)  # fmt: skip

NAMES = list(all_experiments())


# what is typed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "typed", "stored"),
    [
        (number(above=0), "0.1", 0.1),
        (number(), "-3", -3),
        (number(), np.float64(0.5), 0.5),
        (integer(least=1), "200", 200),
        (integer(), 2.0, 2),
        (numbers(above=0), "0.1, 0.5,1", [0.1, 0.5, 1]),
        (numbers(), 3, [3]),
        (integers(least=1), "100:10000:4950", [100, 5050, 10000]),
        (integers(), "3:5", [3, 4, 5]),
        (integers(), range(2), [0, 1]),
        (integers(), np.array([1, 2]), [1, 2]),
        (word("a", "b"), "b", "b"),
        (words("a", "b"), "b,a", ["b", "a"]),
        (bounds(), "-5,5", [-5, 5]),
        (orders(), "0.25,0.5", [0.25, 0.5]),
        (words("a", "a, b", "b"), "a, b,a, b", ["a, b", "a, b"]),
        (words("a, b", "c"), "c,a, b", ["c", "a, b"]),
        (text("be a column"), "salary", "salary"),
        (law(), " Beta( 2, 5 ) ", "beta(2,5)"),
        (law(0, 1), "beta(2,5)", "beta(2,5)"),
    ],
)
def test_what_is_typed_is_stored_as_json_knows_it(kind, typed, stored):
    found = Setting("x", stored, kind, "a test").read(typed)
    assert found == stored
    assert json.loads(json.dumps(found)) == stored


@pytest.mark.parametrize(
    ("kind", "typed", "says"),
    [
        (number(above=0), "0", "x must be a number above 0, got 0. Use x=1."),
        (number(least=0, most=1), "2", "x must be a number at least 0 and at most 1, got 2."),
        (number(), "nan", "x must be a number, got nan"),
        (number(), "", "x must be a number"),
        (number(), None, "x must be a number, got None"),
        (number(), [1], "x must be a number"),
        (number(), True, "x must be a number"),
        (integer(least=1), "1.5", "x must be a whole number at least 1, got 1.5"),
        (integer(), "many", "x must be a whole number"),
        (integer(), float("inf"), "x must be a whole number"),
        (numbers(count=2), "1", "x must be 2 numbers with commas in between, got 1"),
        (numbers(), "1,,2", "x must be numbers with commas in between"),
        (numbers(), [], "x must be numbers"),
        (bounds(), "1,0", "x must be 2 numbers with commas in between, the lower first, got 1,0"),
        (bounds(), "0,0", "the lower first"),
        (bounds(above=0), "0,1", "x must be 2 numbers above 0"),
        (orders(), "0.5,0.5", "above 0 and below 1 with commas in between, ascending"),
        (orders(), "0.9,0.1", "ascending"),
        (integers(), "1:9999999:1", "or first:last:step"),
        (integers(), "5:1", "or first:last:step"),
        (integers(), "1:5:0", "or first:last:step"),
        (integers(), "1:2:3:4", "or first:last:step"),
        (word("a", "b"), "c", "x must be a or b, got c"),
        (words("a", "b"), "a,c", "x must be some of a; b, with commas in between"),
        (text("be a column"), 3, "x must be a column, got 3"),
        (law(), "beta(2)", "x must be a law"),
        (law(), "beta(2,-5)", "got beta(2,-5)"),
        (law(), "cauchy(0,1)", "such as uniform(low,high)"),
        (law(), "uniform(1,0)", "x must be a law"),
        (law(), "normal(0,inf)", "x must be a law"),
        (law(0, 1), "uniform(0,2)", "x must be a law on [0, 1]"),
        (law(0, 1), "normal(0,1)", "x must be a law on [0, 1]"),
    ],
)
def test_what_is_not_of_the_kind_is_refused(kind, typed, says):
    with pytest.raises(ParameterError) as caught:
        Setting("x", 1, kind, "a test").read(typed)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "form",
    ["uniform(-1,3)", "normal(2,0.5)", "beta(2,5)", "triangular(0,1,4)", "exponential(3)",
     "lognormal(0,0.5)"],
)  # fmt: skip
def test_a_law_draws_what_its_quantiles_say(form):
    """A Kolmogorov-Smirnov statistic above 1.95 / sqrt(n) has a chance of 0.001."""
    law, n = DataLaw.read(form), 20_000
    x = np.sort(law.draw(np.random.default_rng(1), n))
    away = np.abs(law.cdf(x) - np.arange(1, n + 1) / n).max()
    assert away < 1.95 / n**0.5
    assert law.cdf(law.quantile([0.1, 0.9])) == pytest.approx([0.1, 0.9])
    assert abs(law.mean - x.mean()) < 5 * x.std() / n**0.5
    low, high = law.range
    assert low <= x[0] <= x[-1] <= high
    wrong = DataLaw.read("normal(2,0.6)").cdf(x) if law.name == "normal" else law.cdf(x) ** 1.1
    assert np.abs(wrong - np.arange(1, n + 1) / n).max() > 1.95 / n**0.5


def test_all_laws_are_tried():
    tried = test_a_law_draws_what_its_quantiles_say.pytestmark[0].args[1]
    assert {form.partition("(")[0] for form in tried} == {
        form.partition("(")[0] for form in DataLaw.forms()
    }


# every experiment ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_reads_its_own_values(name):
    settings = all_experiments()[name].settings
    assert settings
    assert len({one.name for one in settings}) == len(settings)
    for one in settings:
        assert one.name.isidentifier()
        assert one.name not in {"quick", "seed", "workers", "folder"}
        assert one.meaning
        assert not one.meaning.endswith(".")
        for value in (one.default, *([] if one.quick is None else [one.quick])):
            assert one.read(value) == value, one.name
            assert one.read(written(value)) == value, one.name


class Recorded(dict):
    """Settings that remember which of them were read."""

    def __init__(self, *given):
        super().__init__(*given)
        self.seen = set()

    def __getitem__(self, name):
        self.seen.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        self.seen.add(name)
        return super().get(name, default)


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_used(name):
    """Each is read by what splits the run, by one of the parts, or by the picture."""
    experiment = all_experiments()[name]
    settings = Recorded(experiment.values(quick=True))
    parts = experiment.split(settings, seed=1)
    kinds = {}
    for part in parts:  # of parts that differ in numbers alone, the first
        kinds.setdefault(tuple(v for v in part.settings.values() if isinstance(v, str)), part)
    for part in kinds.values():
        if settings.seen >= {one.name for one in experiment.settings}:
            break
        next(iter(experiment.compute(part)))
    unread = {one.name for one in experiment.settings} - settings.seen
    code = inspect.getsource(inspect.getmodule(experiment.draw))
    assert {one for one in unread if f'settings["{one}"]' not in code} == set()


FOLDER = Path(experiments.__file__).parent
TREES = {
    path.relative_to(FOLDER).as_posix(): ast.parse(path.read_text("utf-8"))
    for path in sorted(FOLDER.rglob("*.py"))
}


def names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }


def constants(tree):
    """Yield the names in capitals that a module gives a number, or something made of numbers."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(n, ast.Constant) and isinstance(n.value, (int, float))
            for n in ast.walk(node.value)
        ):
            yield from (n for target in node.targets for n in names(target) if n.isupper())


def defaults():
    """Return the names that a declaration of settings uses."""
    found = set()
    for tree in TREES.values():
        for node in ast.walk(tree):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if made and node.func.id in {"Setting", "Experiment"}:
                found |= names(node)
    return found


NOT_SETTINGS = {
    "audibert/figure_1.py: FIGURES": "numbers of figures",
    "audibert/figure_1.py: FINE": "how exactly a variance is solved for",
    "audibert/figure_4.py: FIRST": "the number of a figure",
    "audibert/figure_4.py: LEAST": "the least epsilon of the library",
    "audibert/figure_4.py: SPANS": "how much of an axis is shown",
    "audibert/grid_answers.py: FINE": "a lattice that stands for the line",
    "audibert/one_quantile.py: DELTA": "a default, in a dict of all of them",
    "audibert/one_quantile.py: LARGE": "where Sourdine changes its law",
    "audibert/one_quantile.py: ORDER": "a default, in a dict of all of them",
    "canesse/deciles.py: TICKS": "a lattice that stands for the line",
    "canesse/figure_3.py: FAR": "weights that are rounded to 0",
    "canesse/figure_6.py: FAR": "weights that are rounded to 0",
    "canesse/figure_6.py: OBSERVED": "stated by the report",
    "canesse/salaries.py: LEAST": "how few numbers a file may have",
    "canesse/salaries.py: MOST": "how large numbers of a file may be",
    "canesse/salaries.py: ENDS": "of the stand-in for data that are not published",
    "couchot/naive_bayes.py: CHUNK": "how much is held in memory",
    "couchot/pima.py: CLASSES": "of the stand-in for data that are not distributed",
    "couchot/pima.py: COLUMNS": "of the table on the slides, and of its stand-in",
    "couchot/pima.py: TOGETHER": "of the stand-in for data that are not distributed",
    "dubois/hardest.py: FIRST": "levels between which the hardest is looked for",
    "dubois/hardest.py: LAST": "levels between which the hardest is looked for",
    "dubois/risks.py: BITS": "a lattice that stands for the line",
    "dubois/risks.py: X": "a lattice that stands for the line",
    "stemmer/copies.py: ACCURACY": "a default, of a function",
    "stemmer/copies.py: ENDLESS": "no end",
    "stemmer/mincut_dynamic.py: ALL_EDGES": "no end",
    "today/deciles_uniform.py: FITS": "stated by the report",
    "today/errors.py: LOWEST": "how much of a band is shown",
    "today/many_quantiles.py: COSTLY": "where fewer runs are made",
    "today/quantile_methods.py: MOST_SIZES": "how many defaults there are",
    "today/salaries.py: OBSERVED": "stated by the report",
}
"""Why each of these is not."""


def test_constants_of_experiments_are_settings_or_say_why_not():
    """A number with a name at the top of a module: stated by the document, a default, or here."""
    used = defaults()
    found = {
        f"{path}: {name}"
        for path, tree in TREES.items()
        for name in constants(tree)
        if not name.startswith("STATED") and name not in used | {"EXPERIMENT", "SETTINGS"}
    }
    assert found == set(NOT_SETTINGS)


# a run --------------------------------------------------------------------------------------------


def test_other_settings_change_seeds_and_the_documents_do_not():
    experiment = all_experiments()["canesse-4"]
    usual = experiment.split(seed=1)
    assert [p.key for p in experiment.split(experiment.values({"epsilon": "1"}), seed=1)] == [
        p.key for p in usual
    ]
    other = experiment.split(experiment.values({"epsilon": "0.5"}), seed=1)
    assert not {p.key for p in other} & {p.key for p in usual}
    fewer = experiment.split(experiment.values({"sizes": "100,200"}), seed=1)
    assert [p.key for p in fewer] == [p.key for p in usual[:2]]


def test_a_run_from_python():
    found = sourdine_lab.run("canesse-4", epsilon=0.1, sizes=[100, 200], runs=3, workers=1)
    assert set(found.table["sets"]) == {3}
    usual = sourdine_lab.run("canesse-4", sizes="100,200", runs=3, workers=1)
    rows = [r.table.where(method="inverse sensitivity", truth="sample") for r in (found, usual)]
    assert rows[0]["error"].mean() > 1.3 * rows[1]["error"].mean()
    text = found.figure().get_supxlabel()
    assert text.startswith("Other settings than the document's: epsilon=0.1, sizes=100,200, runs=3")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"epsilom": 1}, "canesse-4 has no setting 'epsilom'. Did you mean epsilon?"),
        ({"zzz": 1}, "canesse-4 has no setting 'zzz'. It has epsilon, law"),
        ({"epsilon": -1}, "epsilon must be a number above 0, got -1. Use epsilon=1."),
    ],
)
def test_a_run_from_python_refuses_what_is_not_a_setting(given, says):
    with pytest.raises(ParameterError, match=says.replace("(", r"\(")):
        sourdine_lab.run("canesse-4", **given)


def test_the_folder_of_other_settings_is_its_own():
    folders = [
        folder_of(given)
        for given in (
            {"a": "1"},
            {"a": "2"},
            {"law": "beta(2,5)"},
            {"law": "beta(2 5)"},
            {"a": "/"},
        )
    ]
    assert len(set(folders)) == len(folders)
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for one in folders)
