"""Files written by version 0.1.0 open, and say what they said."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import sourdine as sd
from sourdine.adaptive import GuardedHoldout
from sourdine.local import Aggregator, Schema
from sourdine.server.store.store import ServerStore
from sourdine.survey.store import SurveyStore

TOLD = json.loads(Path(__file__).with_name("formats").joinpath("told.json").read_text())


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the files."""
    return Path(shutil.copytree(Path(__file__).with_name("formats"), tmp_path / "formats"))


def test_a_ledger_goes_on(folder):
    session = sd.Session({"age": [1, 2, 3]}, ledger=folder / "people.ledger")
    assert str(session.spent.epsilon) == TOLD["spent"]
    assert [json.loads(c.parameters)["statistic"] for c in session.history] == ["mean", "median"]
    session.count(epsilon=1)
    with pytest.raises(sd.BudgetExceededError):
        session.count(epsilon=1)
    filed = json.loads((folder / "report.json").read_text())
    now = json.loads(session.report(about={"title": "Ages", "purpose": "Planning"}).to_json())
    assert filed.keys() == now.keys()


def test_a_release_is_read_back(folder):
    mean = sd.Release.from_json((folder / "mean.json").read_text())
    assert [mean.value, *mean.interval(0.95)] == pytest.approx(TOLD["mean"], rel=1e-12)


def test_a_guard_goes_on(folder):
    guard = GuardedHoldout.open(folder / "labels.guard")
    assert guard.bits == pytest.approx(TOLD["bits"])
    assert [line.number for line in guard.history] == [1]
    guard.score([0, 1] * 100)
    assert guard.bits > TOLD["bits"]


def test_counted_reports_are_estimated(folder):
    counted = Aggregator.load(folder / "counted.npz", Schema.read(folder / "schema.toml"))
    assert np.asarray(counted.estimate()["region"]).tolist() == pytest.approx(TOLD["shares"])


def test_a_survey_goes_on(folder):
    with closing(SurveyStore(folder / "survey.db")) as store:
        assert store.people == TOLD["people"]
        assert np.asarray(store.estimates()["way"]).tolist() == pytest.approx(TOLD["ways"])


def test_a_server_finds_its_answers(folder):
    with closing(ServerStore.open(f"sqlite:///{folder}/server.db")) as store:
        assert all(store.check())
        [charge] = sd.Session({"age": [1]}, ledger=store.datasets.ledger("people")).history
        assert charge.release.value == TOLD["released"]
