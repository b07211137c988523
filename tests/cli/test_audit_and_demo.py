"""``sourdine audit`` and ``sourdine demo``."""

from __future__ import annotations

from dataclasses import replace
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
def test_workers_find_what_one_process_finds():
    chosen = audit_command.chosen(["noise.laplace", "category.warner", "choice.gridded"])
    one, two = (
        {
            name: replace(row, p_value=0, power=0, seconds=0)
            for name, row in audit_command.audit_rows(chosen, workers=workers)
        }
        for workers in (1, 2)
    )
    assert list(one) == [specimen.name for specimen in chosen]
    assert {name: repr(row) for name, row in one.items()} == {
        name: repr(row) for name, row in two.items()
    }


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
    assert audit_command.run([], workers=1) is True
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


class Narrow(Laplace):
    """Laplace noise of the wrong size: the law and the guarantee are those of the right one."""

    def draw(self, x, size, source):
        return Laplace(epsilon=self.epsilon * Fraction(13, 10)).draw(x, size, source)


def test_audit_fails_on_draws_that_do_not_follow_the_law(monkeypatch, capsys):
    narrow = Specimen(
        name="narrow", make=lambda epsilon: Narrow(epsilon=epsilon), inputs=(0,), tight=True
    )
    monkeypatch.setattr(audit_command, "chosen", lambda _: (narrow,))
    assert audit_command.run([]) is False
    assert "Broken: narrow" in capsys.readouterr().out


class Hopeful(Laplace):
    """An error bound that is half of the right one."""

    def error(self, beta):
        return super().error(beta) / 2


def test_a_thorough_audit_fails_on_what_the_usual_one_leaves_to_it(monkeypatch, capsys):
    hopeful = Specimen(
        name="hopeful", make=lambda epsilon: Hopeful(epsilon=epsilon), inputs=(0,), tight=True
    )
    monkeypatch.setattr(audit_command, "chosen", lambda _: (hopeful,))
    assert audit_command.run([]) is True
    assert "Left to --thorough" in capsys.readouterr().out
    assert audit_command.run([], thorough=True) is False
    out = capsys.readouterr().out
    assert "hopeful: error(0.5)" in out
    assert "Left to --thorough" not in out


def test_a_row_is_printed_as_soon_as_it_is_judged(monkeypatch, capsys):
    judged = audit_command.audit_rows
    seen = []

    def watched(specimens, **options):
        for name, row in judged(specimens, **options):
            seen.append(capsys.readouterr().out)
            yield name, row

    monkeypatch.setattr(audit_command, "audit_rows", watched)
    assert audit_command.run(["noise.laplace", "noise.staircase"], workers=1)
    first, *others = [text.split()[0] for text in seen]
    names = [specimen.name for specimen in audit_command.chosen(["noise.laplace"])]
    assert first == "mechanism"
    assert others == names


@pytest.mark.slow
def test_demo_draws_a_picture(sourdine, tmp_path):
    pytest.importorskip("matplotlib")
    done = sourdine("demo", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "46,090" in done.stdout  # the public truth
    assert (tmp_path / "here" / "wages.png").stat().st_size > 20_000


def test_version(sourdine):
    assert sourdine("--version").stdout.startswith("sourdine 0.")
