"""``sourdine audit`` and ``sourdine demo``."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sourdine.cli import audit as audit_command
from sourdine.errors import MissingExtraError
from sourdine.mechanisms import Laplace, Specimen
from sourdine.mechanisms.mechanism import settle
from sourdine.privacy import Guarantee


@pytest.mark.slow
def test_audit_prints_a_row_and_succeeds(sourdine):
    done = sourdine("audit", "category.warner", "noise.laplace.vector")
    assert done.returncode == 0, done.stderr
    assert "category.warner" in done.stdout
    assert "1.000000" in done.stdout
    assert "All 2 keep their promise" in done.stdout


@pytest.mark.slow
def test_audit_finds_the_hybrid_of_quantiles(sourdine):
    done = sourdine("audit", "hybrid")
    assert done.returncode == 2
    assert "Did you mean quantiles.hybrid or number.hybrid?" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_audit_says_what_it_could_not_do(monkeypatch, capsys):
    def without(_):
        raise MissingExtraError("got none. In the checkout, run pip install '.[density]'.")

    laplace = next(s for s in audit_command.chosen(["noise.laplace"]) if s.name == "noise.laplace")
    lost = Specimen(name="density.lost", make=without, inputs=(0,), tight=True)
    monkeypatch.setattr(audit_command, "chosen", lambda _: (laplace, lost))
    assert audit_command.run([]) is True
    out = " ".join(capsys.readouterr().out.split())
    assert "All 1 keep their promise" in out
    assert "density.lost. got none. In the checkout, run pip install '.[density]'." in out


@pytest.mark.slow
def test_audit_says_where_only_weaker_copies_are_caught(capsys):
    assert audit_command.run(["noise.gaussian.vector"])
    assert "noise.gaussian.vector (10%)" in " ".join(capsys.readouterr().out.split())


def test_audit_fails_on_a_broken_mechanism(monkeypatch, capsys):
    def lying(epsilon):
        weak = Laplace(epsilon=epsilon * Fraction(21, 20))
        settle(weak, guarantee=Guarantee(epsilon))
        return weak

    liar = Specimen(name="liar", make=lying, inputs=(0,), tight=True)
    monkeypatch.setattr(audit_command, "chosen", lambda _: (liar,))
    assert audit_command.run([]) is False
    assert "Broken: liar" in capsys.readouterr().out


@pytest.mark.slow
def test_demo_draws_a_picture(sourdine, tmp_path):
    pytest.importorskip("matplotlib")
    done = sourdine("demo", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "46,090" in done.stdout  # the public truth
    assert (tmp_path / "here" / "wages.png").stat().st_size > 20_000


def test_version(sourdine):
    assert sourdine("--version").stdout.startswith("sourdine 0.")
