from __future__ import annotations

import subprocess
import sys

import pytest

from sourdine.errors import ParameterError
from sourdine_lab.concordance import found
from sourdine_lab.experiment import Part
from sourdine_lab.registry import _place, all_experiments, chosen


def named(*words):
    return [experiment.name for experiment in chosen(list(words))]


def test_a_name_is_one_experiment():
    assert named("canesse-2") == ["canesse-2"]
    assert named("TODAY-Mean") == ["today-mean"]


def test_a_row_is_all_its_experiments():
    fits = [e.name for e in all_experiments().values() if "C6" in e.ids]
    assert "canesse-2" in fits
    assert named("C6") == named("c6") == fits


def test_a_figure_is_the_experiment_that_redraws_it():
    for experiment in all_experiments().values():
        for figure in experiment.redraws:
            assert named(figure) == [experiment.name]


def test_what_a_document_calls_it_is_the_experiments_that_show_it():
    assert named("figure 12") == named("Figure 12") == ["audibert-12"]
    for word in ("RecExp", "QExp", "HistogramMethod", "GRR"):
        shown = {name for entry in found(word) for name in entry.figures}
        assert set(named(word)) == shown != set()


def test_figures_of_today_redraw_nothing():
    today = [e for e in all_experiments().values() if e.name.startswith("today-")]
    assert len(today) >= 11
    assert all(e.redraws == () for e in today)


def test_an_experiment_is_chosen_once():
    assert named("canesse-2", "today-mean", "C6").count("canesse-2") == 1


@pytest.mark.parametrize(
    ("word", "hint"),
    [("canese-2", "lab run canesse-2"), ("zzz", "lab list"), ("the", "lab"), ("nothing", "lab")],
)
def test_an_unknown_word_is_refused_with_a_hint(word, hint):
    with pytest.raises(ParameterError, match=f"got {word}. Run sourdine {hint}"):
        chosen([word])


def test_the_order_is_that_of_the_documents_and_their_figures():
    names = ["today-mean", "audibert-12", "audibert-9", "stemmer-s3", "couchot-curve", "canesse-2"]
    assert sorted(names, key=_place) == [
        "canesse-2", "audibert-9", "audibert-12", "couchot-curve", "stemmer-s3", "today-mean"
    ]  # fmt: skip
    assert list(all_experiments()) == sorted(all_experiments(), key=_place)


def test_the_parts_of_an_experiment_differ():
    for experiment in all_experiments().values():
        for quick in (True, False):
            keys = [part.key for part in experiment.split(quick=quick, seed=1)]
            assert len(keys) == len(set(keys)), experiment.name


def test_a_part_has_chance_of_its_own():
    part = Part("a-1", {"n": 5, "runs": 2}, 1)
    same = Part("a-1", {"runs": 2, "n": 5}, 1)
    others = [Part("a-2", part.settings, 1), Part("a-1", {"n": 6, "runs": 2}, 1)]
    others.append(Part("a-1", part.settings, 2))
    assert part.key == same.key
    assert part.key not in {other.key for other in others}
    assert part.rng.random() == part.rng.random() == same.rng.random()
    assert part.source.bytes(8) == same.source.bytes(8)
    assert part.source.bytes(8) not in {other.source.bytes(8) for other in others}
    assert part["n"] == 5


def test_finding_experiments_loads_nothing_heavy():
    heavy = ("matplotlib", "sklearn", "scipy", "pywt", "igraph", "datasketches", "duckdb")
    code = (
        "import sys; from sourdine_lab.registry import all_experiments; all_experiments();"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"
