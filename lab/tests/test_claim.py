from __future__ import annotations

import json
from contextlib import nullcontext
from itertools import cycle, product

import pytest

from sourdine.errors import ParameterError
from sourdine_lab import concordance
from sourdine_lab.claims import verdicts
from sourdine_lab.claims.claim import Claim, Finding, Instead, Verdict


def check(form):
    """Whether a bound of ``form`` holds for the number 10."""
    return Finding(form >= 10, form, 0.5, f"{form} against 10")


def claim(printed, instead, other, **more):
    given = {"id": "C5", "statement": "a bound", "check": check, **more}
    return Claim(printed=printed, instead=instead, other=other, **given)


HIGH, LOW = 12, 8
EXPECTED = {
    (HIGH, LOW, Instead.RIVAL): Verdict.CONFIRMED,
    (LOW, HIGH, Instead.CORRECTION): Verdict.CORRECTED,
    (LOW, HIGH, Instead.MEANT): Verdict.MISPRINT,
    (LOW, HIGH, Instead.OPPOSITE): Verdict.REFUTED,
}


@pytest.mark.parametrize(
    ("printed", "instead", "other"), list(product((HIGH, LOW), (HIGH, LOW), Instead))
)
def test_the_verdict_follows_from_what_was_found(printed, instead, other):
    judged = claim(printed, instead, other).judge()
    expected = EXPECTED.get((printed, instead, other), Verdict.UNDECIDED)
    assert judged.verdict is expected
    assert judged.minds_swapping is (expected is not Verdict.UNDECIDED or printed != instead)


def test_swapping_the_forms_changes_the_verdict():
    for printed, instead, other in EXPECTED:
        one, swapped = claim(printed, instead, other), claim(instead, printed, other)
        assert one.judge().verdict is not swapped.judge().verdict


@pytest.mark.parametrize(
    ("printed", "instead", "other"), list(product((HIGH, LOW), (HIGH, LOW), Instead))
)
def test_our_own_reading_is_observed_whichever_way_it_goes(printed, instead, other):
    judged = claim(printed, instead, other, ours=True).judge()
    decided = (printed, instead, other) in EXPECTED
    assert judged.verdict is (Verdict.OBSERVED if decided else Verdict.UNDECIDED)
    assert judged.minds_swapping is claim(printed, instead, other).judge().minds_swapping


def test_both_forms_are_run_by_one_check():
    seen = []

    def spying(form):
        seen.append(form)
        return check(form)

    claim(HIGH, LOW, Instead.RIVAL, check=spying).judge()
    assert seen == [HIGH, LOW]


def test_what_is_told_of_a_claim():
    judged = claim(LOW, HIGH, Instead.CORRECTION).judge()
    assert judged.words == "8 against 10; correction: 12 against 10"
    assert judged.where.endswith(f"test_claim.py:{check.__code__.co_firstlineno}")
    assert judged.code.startswith("def check(form):")
    assert judged.facts["verdict"] == "corrected"
    assert (judged.facts["number"], judged.facts["uncertainty"]) == (LOW, 0.5)
    assert json.loads(json.dumps(judged.facts)) == judged.facts


@pytest.mark.parametrize("row", ["", "C", "5", "X5", "c5", "C5B", "C5bb", "C5 ", "C-5"])
def test_a_row_that_could_not_be_is_refused(row):
    with pytest.raises(ParameterError, match="must be like C3 or C3b"):
        claim(HIGH, LOW, Instead.RIVAL, id=row)


def test_the_row_of_a_further_statement():
    assert [claim(1, 2, Instead.RIVAL, id=i).row for i in ("C5", "C5b", "S12z")] == [
        "C5", "C5", "S12"
    ]  # fmt: skip


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Claims and a record of our own."""
    made = [
        claim(HIGH, LOW, Instead.RIVAL, id="S2"),
        claim(LOW, HIGH, Instead.CORRECTION, id="C5"),
        claim(LOW, HIGH, Instead.OPPOSITE, id="C10"),
        claim(LOW, HIGH, Instead.OPPOSITE, id="C5b"),
    ]
    known = {c.id: c for c in sorted(made, key=lambda c: verdicts._place(c.id))}
    path = tmp_path / "recorded.json"
    path.write_text("{}\n")
    monkeypatch.setattr(verdicts, "RECORDED", path)
    monkeypatch.setattr(verdicts, "all_claims", lambda: known)
    return known


def test_the_order_is_that_of_the_rows(known):
    assert list(known) == ["C5", "C5b", "C10", "S2"]
    assert [c.id for c in verdicts.chosen(["s2", "C5"])] == ["C5", "C5b", "S2"]
    assert len(verdicts.chosen([])) == 4


@pytest.mark.parametrize("word", ["C13", "Z1", "everythingg", ""])
def test_what_the_documents_lack_is_refused(word, known):
    assert known
    with pytest.raises(ParameterError, match="no document has anything called"):
        verdicts.chosen([word])


def test_what_has_no_claim_is_refused(known, monkeypatch):
    assert known
    entry = concordance.Entry(document="canesse", place="1", name="x", statement="y")
    monkeypatch.setattr(concordance, "found", lambda _: [entry])
    with pytest.raises(ParameterError, match="Run sourdine lab where 'Introduction'"):
        verdicts.chosen(["Introduction"])


def test_claims_are_chosen_by_what_the_document_calls_them():
    for word in ("canesse", "figure 12", "RecExp", "3.4.1.2", "Théorème 3.4.1.2", "GRR"):
        rows = {row for entry in concordance.found(word) for row in entry.claims}
        assert rows
        assert {claim.id for claim in verdicts.chosen([word])} == rows
    assert {c.id[0] for c in verdicts.chosen(["canesse"])} == {"C"}
    assert [c.id for c in verdicts.chosen(["c5b"])] == ["C5b"]


def test_findings_are_kept_and_reused_until_code_changes(tmp_path, monkeypatch):
    claims = verdicts.chosen(["C1", "S2b"])
    first = verdicts.judge(claims, workers=1, quick=True, folder=tmp_path)
    monkeypatch.setattr(verdicts, "pool", lambda _: nullcontext())
    told = []
    again = verdicts.judge(claims, told.append, quick=True, folder=tmp_path)
    assert [one.facts for one in again] == [one.facts for one in first]
    assert [one.claim.id for one in told] == ["C1", "S2b"]
    monkeypatch.setattr(verdicts, "_code", lambda: "other code")
    with pytest.raises(AttributeError, match="submit"):
        verdicts.judge(claims, folder=tmp_path)


def test_verdicts_are_counted(known):
    assert verdicts.counted([c.judge() for c in known.values()]) == (
        "4 claims: 1 confirmed, 1 corrected, 2 refuted"
    )


@pytest.mark.parametrize("row", list(verdicts.all_claims()))
def test_a_document_is_not_called_wrong_without_its_words(row):
    claim = verdicts.all_claims()[row]
    if claim.other is Instead.RIVAL or claim.ours:
        return
    assert len(claim.quote) >= 3, "quote the document, or say that it is our reading"
    assert len(claim.quote.split()) <= 45
    assert not set(claim.quote) & set("\\$"), "formulas are written as text"


def test_a_verdict_must_be_the_recorded_one(known):
    judged = [c.judge() for c in known.values()]
    assert verdicts.troubles(judged)[0] == "C5: corrected now, recorded as nothing"
    assert len(verdicts.troubles(judged)) == 4
    verdicts.record(judged)
    assert verdicts.troubles(judged) == []
    assert list(verdicts.recorded()) == ["C5", "C5b", "C10", "S2"]
    other = claim(HIGH, LOW, Instead.RIVAL, id="C5").judge()
    assert verdicts.troubles([other]) == ["C5: confirmed now, recorded as corrected"]


def test_a_verdict_that_does_not_mind_swapping_is_trouble(known):
    assert known
    both = claim(HIGH, HIGH, Instead.RIVAL, id="C5").judge()
    verdicts.record([both])
    assert verdicts.recorded() == {"C5": "undecided"}
    assert verdicts.troubles([both]) == [
        "C5: undecided is no verdict",
        "C5: the verdict stays when the two forms are swapped",
    ]


def test_a_check_that_does_not_look_at_its_form_is_trouble(known):
    assert known
    answers = cycle((True, False))
    blind = claim(HIGH, LOW, Instead.RIVAL, id="C5", check=lambda _: Finding(next(answers), 1.0))
    once, twice = blind.judge(), blind.judge(twice=True)
    assert once.verdict is twice.verdict is Verdict.CONFIRMED
    verdicts.record([twice])
    assert verdicts.troubles([twice]) == ["C5: the verdict stays when the two forms are swapped"]


def test_a_recorded_row_that_is_claimed_no_more_is_trouble(known):
    verdicts.RECORDED.write_text(json.dumps({"C1": "confirmed", "S2": "confirmed"}))
    assert verdicts.troubles([known["S2"].judge()]) == ["C1: recorded, but claimed no more"]


def test_an_honest_check_finds_the_same_in_the_other_order(known):
    assert all(one.judge(twice=True).steady for one in known.values())


def test_recording_keeps_other_rows_and_drops_those_that_are_no_more(known):
    verdicts.RECORDED.write_text(json.dumps({"C1": "confirmed", "C10": "refuted"}))
    verdicts.record([known["S2"].judge()])
    assert verdicts.recorded() == {"C10": "refuted", "S2": "confirmed"}


def test_no_row_is_claimed_twice(monkeypatch):
    from sourdine_lab.claims import claim as module

    monkeypatch.setattr(module, "CLAIMS", (claim(HIGH, LOW, Instead.RIVAL),) * 2, raising=False)
    verdicts.all_claims.cache_clear()
    try:
        with pytest.raises(ParameterError, match="got C5 twice"):
            verdicts.all_claims()
    finally:
        verdicts.all_claims.cache_clear()


def test_the_rows_are_those_of_the_documents():
    assert len(verdicts.ROWS) == 50
    assert len(set(verdicts.ROWS)) == 50
    assert {"C12", "A17", "L8", "W4", "S9"} <= set(verdicts.ROWS)
    assert not {"C13", "A18", "L9", "W5", "S10"} & set(verdicts.ROWS)
