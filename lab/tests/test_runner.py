"""Runs are resumable: what was computed is kept, and nothing that would change it goes unseen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from sourdine_lab import runner as module
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.one_number import EXPERIMENT as REAL
from sourdine_lab.registry import chosen
from sourdine_lab.runner import Runner
from sourdine_lab.settings import Setting, integer
from sourdine_lab.table import Table


class Lab:
    """Experiments of our own, computed in a thread of this process; what is computed is counted."""

    def __init__(self, folder):
        self.folder, self.computed, self.pools = folder, [], []
        self.failing, self.known = set(), {}

    def experiment(self, name, count=3, **more):
        def compute(part):
            if part["i"] in self.failing:
                raise ArithmeticError(f"part {part['i']}")
            self.computed.append((name, part["i"]))
            yield {"i": part["i"], "drawn": part.rng.random(), "whole": np.int64(part["i"])}

        made = Experiment(
            name=name, ids=("C1",), title="t", question="q?", stated="s", compute=compute,
            parts=lambda s: [{"i": i} for i in range(s["count"])], draw=lambda *_: None,
            settings=(Setting("count", 2 * count, integer(), "parts", quick=count, split=True),),
            **more,
        )  # fmt: skip
        self.known[name] = made
        return made

    def run(self, *experiments, done=lambda *_: None, **options):
        own = Runner(self.folder, quick=True, **options)
        return {e.name: table for e, table in own.run(list(experiments), done)}

    @property
    def files(self):
        return {p: p.stat().st_mtime_ns for p in self.folder.rglob("*.json")}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    own = Lab(tmp_path / "parts")

    @contextmanager
    def threads(workers=None):
        own.pools.append(workers)
        processes = ThreadPoolExecutor(1)
        try:
            yield processes
        finally:
            processes.shutdown(cancel_futures=True)

    monkeypatch.setattr(module, "pool", threads)
    monkeypatch.setattr(module, "all_experiments", lambda: own.known)
    return own


def test_a_second_run_computes_nothing(lab):
    one = lab.experiment("a-1")
    first, before = lab.run(one)["a-1"], lab.files
    assert (len(lab.computed), len(before)) == (3, 3)
    again = lab.run(one)["a-1"]
    assert again == first
    assert len(lab.computed) == 3
    assert lab.files == before


def test_a_run_that_was_stopped_goes_on(lab):
    one = lab.experiment("a-1", count=5)

    def stop(_, parts, __):
        if parts == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab.run(one, done=stop)
    kept = lab.files
    assert len(kept) == 2
    lab.computed.clear()
    table = lab.run(one)["a-1"]
    assert table["i"].tolist() == list(range(5))
    assert len(lab.computed) == 3
    assert kept.items() <= lab.files.items()
    fresh = Lab(lab.folder / "elsewhere")
    fresh.known = lab.known
    assert fresh.run(one)["a-1"] == table


def test_an_error_in_a_part_surfaces_and_leaves_the_others(lab):
    one = lab.experiment("a-1", count=4)
    lab.failing = {2}
    with pytest.raises(ArithmeticError, match="part 2"):
        lab.run(one)
    kept = lab.files
    assert 1 <= len(kept) <= 3
    lab.failing, done = set(), len(kept)
    lab.computed.clear()
    assert len(lab.run(one)["a-1"]) == 4
    assert len(lab.computed) == 4 - done


@pytest.mark.parametrize("what", ["seed", "version", "code", "settings", "name"])
def test_what_changes_a_part_is_computed_again(lab, monkeypatch, what):
    one, options = lab.experiment("a-1"), {}
    first, before = lab.run(one)["a-1"], lab.files
    if what == "seed":
        options["seed"] = 2
    elif what == "version":
        monkeypatch.setattr(module, "__version__", "another")
    elif what == "code":
        monkeypatch.setattr(module, "_code", lambda folder: f"changed in {folder.name}")
    elif what == "settings":
        one = replace(one, parts=lambda _: [{"i": i, "more": 1} for i in range(3)])
    else:
        one = lab.experiment("a-2")
    second = next(iter(lab.run(one, **options).values()))
    assert len(lab.computed) == 6
    assert len(lab.files) == 6
    assert before.items() <= lab.files.items()
    same = what in ("version", "code")
    assert (first["drawn"].tolist() == second["drawn"].tolist()) is same


def test_quick_and_full_share_no_more_than_their_parts(lab):
    one = lab.experiment("a-1")
    lab.run(one)
    ((_, full),) = Runner(lab.folder).run([one], lambda *_: None)
    assert len(full) == 6
    assert len(lab.computed) == 6


def test_experiments_that_measure_time_run_alone_after_the_others(lab):
    timed = lab.experiment("a-1", alone=True)
    other = lab.experiment("b-1")
    tables = lab.run(timed, other, workers=2)
    assert list(tables) == ["b-1", "a-1"]
    assert lab.pools == [2, 1]
    assert [name for name, _ in lab.computed] == ["b-1"] * 3 + ["a-1"] * 3


def test_progress_is_told_after_each_part(lab):
    one, told = lab.experiment("a-1"), []
    lab.run(one, done=lambda e, parts, total: told.append((e.name, parts, total)))
    assert told == [("a-1", i, 3) for i in range(4)]
    told.clear()
    lab.run(one, done=lambda e, parts, total: told.append((e.name, parts, total)))
    assert told == [("a-1", 3, 3)]


def test_a_part_keeps_its_seed_and_plain_numbers(lab):
    lab.run(lab.experiment("a-1", count=1), seed=7)
    (path,) = lab.files
    facts = json.loads(path.read_text())
    assert facts["seed"] == 7
    assert facts["settings"]["i"] == 0
    assert facts["rows"][0]["whole"] == 0
    assert facts["key"] == lab.known["a-1"].split(quick=True, seed=7)[0].key
    assert not list(lab.folder.rglob("*.new"))


SIX = {"epsilons": [0.1, 0.25, 0.5, 1, 2, 4]}


def numbers(folder, **options):
    ((_, table),) = Runner(folder, given=SIX, **options).run([REAL], lambda *_: None)
    return table


def test_the_number_of_processes_changes_nothing(tmp_path):
    one, two = numbers(tmp_path / "1", workers=1), numbers(tmp_path / "2", workers=2)
    assert isinstance(one, Table)
    parts = Runner(tmp_path, given=SIX).parts(REAL)
    assert len(parts) == 2
    assert one == two
    assert one == Table([row for p in parts for row in REAL.compute(p)])


def test_ctrl_c_leaves_what_was_finished(tmp_path):
    """The command itself, interrupted as a person does; then its parts are found again."""
    words = ["lab", "run", "today-deciles", "--workers", "1", "-o", str(tmp_path)]
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run = f"{heard}from sourdine.cli import main; main()"  # whoever runs the tests may ignore it
    command = [sys.executable, "-c", run, *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)  # noqa: S603
    limit = time.monotonic() + 200
    while not list(tmp_path.glob("parts/*/*.json")) and time.monotonic() < limit:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(100) != 0
    kept = len(list(tmp_path.glob("parts/*/*.json")))
    assert 1 <= kept < 12
    assert not (tmp_path / "lab.html").exists()

    def first(_, parts, total):
        raise InterruptedError(parts, total)

    with pytest.raises(InterruptedError) as told:
        next(Runner(tmp_path / "parts").run(chosen(["today-deciles"]), first))
    assert told.value.args == (kept, 12)


def test_code_beside_an_experiment_counts_and_so_does_what_it_takes_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "HERE", tmp_path)
    for name in ("here", "there", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.py").write_text(f"# {name}\n")
    (tmp_path / "here" / "two.py").write_text("from sourdine_lab.experiments.there import one\n")
    code = module._code(tmp_path / "here")
    assert "# here" in code
    assert "# there" in code
    assert "# elsewhere" not in code
