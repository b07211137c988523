"""``sourdine audit`` and ``sourdine demo``."""

from __future__ import annotations

import pytest

from sourdine.audit import checks
from sourdine.cli import audit as audit_command
from sourdine.mechanisms import Laplace, Specimen
from sourdine.mechanisms.mechanism import settle
from sourdine.privacy import Guarantee


def test_audit_prints_a_row_and_succeeds(sourdine):
    done = sourdine("audit", "warner", "laplace")
    assert done.returncode == 0, done.stderr
    assert "warner" in done.stdout
    assert "1.000000" in done.stdout
    assert "All 2 keep their promise" in done.stdout


def test_audit_of_an_unknown_name_says_which_exist(sourdine):
    done = sourdine("audit", "nope")
    assert done.returncode == 2
    assert "mechanism must be one of" in done.stderr
    assert "Traceback" not in done.stderr


def test_audit_fails_on_a_broken_mechanism(monkeypatch, capsys):
    def lying(epsilon):
        weak = Laplace(epsilon=epsilon * checks.WEAKER)
        settle(weak, guarantee=Guarantee(epsilon))
        return weak

    liar = Specimen(name="liar", make=lying, inputs=(0,), tight=True)
    monkeypatch.setattr(audit_command, "registered", lambda: (liar,))
    assert audit_command.run([]) is False
    assert "Broken: liar" in capsys.readouterr().out


def test_demo_draws_a_picture(sourdine, tmp_path):
    pytest.importorskip("matplotlib")
    done = sourdine("demo", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "43 455" in done.stdout  # the public truth
    assert (tmp_path / "here" / "wages.png").stat().st_size > 20_000


def test_version(sourdine):
    assert sourdine("--version").stdout.startswith("sourdine 0.")
