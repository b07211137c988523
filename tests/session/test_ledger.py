"""A ledger: exact sums, one file, no line ever changed, clear words when it refuses."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from session_calls import charged
from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee
from sourdine.privacy.accounting import Filter
from sourdine.server.store.store import ServerStore
from sourdine.session import Terms
from sourdine.session import charges as lines
from sourdine.session.ledger import DatabaseLedger, FileLedger, MemoryLedger
from sourdine.storage import journal, locks
from sourdine.storage.journal import FileKind, Journal

TERMS = Terms(total=Guarantee(1, 1e-6, ADD_REMOVE), name="people.csv")
FILTERED = Terms(total=TERMS.total, name="people.csv", filter=Filter.of(1, 1e-6, reserve=9e-7))


@pytest.fixture(params=[TERMS, FILTERED], ids=["sum", "renyi"])
def terms(request):
    return request.param


@pytest.fixture(
    params=["memory", "file", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
)
def ledger(request, terms, tmp_path):
    if request.param == "memory":
        return MemoryLedger(terms)
    if request.param == "file":
        return FileLedger(tmp_path / "a ledger #1?.ledger", terms)
    return DatabaseLedger(made_store(request), terms)


def made_store(request):
    """Return the address of a new store, in the database that a test's parameter names."""
    folder = request.getfixturevalue("tmp_path")
    address = (
        request.getfixturevalue("postgres")
        if request.param == "postgres"
        else f"sqlite:///{folder}/a store %23 1.db"
    )
    ServerStore.create(address).close()
    return address


def spend(ledger, epsilon, delta=0, relation=ADD_REMOVE, what="mean of age"):
    cost = Guarantee(epsilon, delta, relation)
    return charged(ledger, cost, what=what, mechanism="mean by hand")


@pytest.mark.slow
def test_ten_tenths_exhaust_exactly(ledger):
    for _ in range(10):
        spend(ledger, 0.1)
    assert ledger.account.spent == Guarantee(1, 0, ADD_REMOVE)
    with pytest.raises(BudgetExceededError, match=r"The budget is used up|, 0% remaining"):
        spend(ledger, Fraction(1, 10**30))
    assert [charge.number for charge in ledger.history] == list(range(1, 11))


def test_thirds_are_exact(ledger):
    for _ in range(3):
        spend(ledger, Fraction(1, 3))
    assert ledger.account.spent.epsilon == 1
    assert ledger.history[1].spent.epsilon == Fraction(2, 3)


def test_refusal_says_what_is_left_and_what_fits(ledger):
    spend(ledger, 0.6)
    text = {
        "sum": "requested epsilon=0.5, 0.4 of 1 remaining. Use epsilon=0.4 or less.",
        "renyi": "Budget exceeded: requested 50% of the total, 40% remaining.",
    }[ledger.terms.account]
    with pytest.raises(BudgetExceededError, match=re.escape(text)):
        spend(ledger, 0.5)
    with pytest.raises(BudgetExceededError, match=r"requested delta=1e-05, (1e-06|9e-07) of"):
        spend(ledger, 0.1, 1e-5)
    assert ledger.account.spent == Guarantee(0.6, 0, ADD_REMOVE)
    assert len(ledger.history) == 1


def test_what_the_refusal_names_fits(ledger):
    spend(ledger, Fraction(1, 3))
    with pytest.raises(BudgetExceededError):
        spend(ledger, 0.9)
    spend(ledger, ledger.account.remaining.epsilon)
    assert ledger.account.share > 0.99999


def test_an_infinite_cost_is_refused(ledger):
    with pytest.raises(BudgetExceededError, match="not a seeded one"):
        charged(ledger, Guarantee.none(ADD_REMOVE), what="mean")
    assert ledger.history == []


def test_history_holds_public_facts(ledger):
    charge = spend(ledger, 0.25)
    assert ledger.history == [charge]
    assert (charge.what, charge.mechanism) == ("mean of age", "mean by hand")
    assert charge.cost == charge.spent == Guarantee(0.25, 0, ADD_REMOVE)
    assert charge.when.endswith("+00:00")


def test_long_fractions_round_up_and_never_pass_the_total(ledger):
    sizes = [2**2000 + 1, 3**1400, 5**900]
    for size in sizes:
        spend(ledger, Fraction(1, 4) + Fraction(1, size))
    spent = ledger.account.spent.epsilon
    assert spent >= Fraction(3, 4) + sum(Fraction(1, size) for size in sizes)
    assert spent.denominator <= 1 << 2048
    spend(ledger, 1 - spent)
    assert ledger.account.spent.epsilon == 1


@pytest.mark.quick_cases(4)
def test_threads_charge_exactly_the_total(ledger):
    def attempt(_):
        try:
            spend(ledger, 0.05)
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 20
    assert ledger.account.spent.epsilon == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_processes_share_a_file_and_not_memory(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    done = subprocess.run(  # noqa: S603
        [sys.executable, script, tmp_path / "x.ledger"], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["child-refused", "5"], done.stderr


FORKS = """
import os, sys
from sourdine.errors import BudgetExceededError
from sourdine.privacy import Guarantee
from sourdine.session import Call, Terms
from sourdine.session.ledger import FileLedger
from sourdine.session.ledger import MemoryLedger
terms = Terms(total=Guarantee(1))
def spend(ledger):
    ledger.charge_all([Call(cost=Guarantee(0.2), what="count", mechanism="count", parameters="{}")])
memory, file = MemoryLedger(terms), FileLedger(sys.argv[1], terms)
spend(file)
children = []
for i in range(4):
    child = os.fork()
    if not child:
        spend(file)
        try:
            spend(memory)
        except BudgetExceededError:
            if i == 0:
                os.write(1, b"child-refused\\n")
        os._exit(0)
    os.waitpid(child, 0)
print(len(file.history))
"""


def test_a_file_remembers(tmp_path, terms):
    path = tmp_path / "people.ledger"
    first = FileLedger(path, terms)
    spend(first, 0.75)
    again = FileLedger(path, terms)
    assert again.account.spent.epsilon == Fraction(3, 4)
    assert again.account == first.account
    assert FileLedger(path, None).terms == terms
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.ledger"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"total": Guarantee(2, 1e-6, ADD_REMOVE)}, "epsilon must be 1, as the ledger p.ledger"),
        ({"total": Guarantee(1, 0, ADD_REMOVE)}, "delta must be 1e-6, as"),
        ({"total": Guarantee(1, 1e-6, SUBSTITUTE)}, "relation must be add_remove, as"),
        ({"unit": "person"}, "unit must be omitted, as"),
        ({"rows": 2}, "rows must be 1, as"),
        ({"name": "others.csv"}, "name must be people.csv, as"),
    ],
)
def test_other_terms_are_refused(tmp_path, terms, change, text):
    path = tmp_path / "p.ledger"
    FileLedger(path, terms)
    given = {"total": terms.total, "name": terms.name, "filter": terms.filter} | change
    with pytest.raises(ParameterError, match=text):
        FileLedger(path, Terms(**given))


def test_a_missing_name_fits_every_name(tmp_path):
    path = tmp_path / "p.ledger"
    FileLedger(path, TERMS)
    assert FileLedger(path, Terms(total=TERMS.total)).terms.name == "people.csv"


@pytest.mark.slow
def test_no_flipped_bit_is_accepted(tmp_path, terms):
    """Of terms and charges, and of what counts them: not one of 600 changes anything silently."""
    path, chance = tmp_path / "p.ledger", random.Random(5)  # noqa: S311 - no secret
    ledger = FileLedger(path, terms)
    for _ in range(4):
        spend(ledger, 0.2)
    whole = path.read_bytes()
    for _ in range(600):
        damaged, place = bytearray(whole), chance.randrange(8 * len(whole))
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        for given in (terms, None):
            with pytest.raises(ParameterError, match="ledger must be a file written by Sourdine"):
                FileLedger(path, given)
    path.write_bytes(whole)
    assert FileLedger(path, None).account.spent.epsilon == Fraction(4, 5)


def test_an_emptied_ledger_gives_nothing_back(tmp_path):
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    spend(ledger, 0.9)
    path.write_bytes(b"")
    for terms in (TERMS, None):
        with pytest.raises(ParameterError, match=r"\(0 bytes: .* from a copy"):
            FileLedger(path, terms)
    with pytest.raises(ParameterError, match="0 bytes"):
        spend(ledger, 0.05)


def test_an_older_copy_under_a_running_session_is_noticed(tmp_path):
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    older = path.read_bytes()
    spend(ledger, 0.9)
    newer = path.read_bytes()
    path.write_bytes(older)
    for look in (lambda: spend(ledger, 0.9), lambda: ledger.account.spent, lambda: ledger.history):
        with pytest.raises(ParameterError, match="an older or a different copy"):
            look()
    path.write_bytes(newer)
    assert spend(ledger, 0.1).number == 2


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    text, database = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("no ledger, and much longer than a head of a hundred bytes " * 4)
    database.write_bytes(b"SQLite format 3\0" + b"\0" * 9000)
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(ParameterError, match="ledger must be a file written by Sourdine"):
            FileLedger(path, TERMS)
        assert path.read_bytes() == before


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    for _ in range(40):
        spend(ledger, 0.001, what="mean of " + "x" * 500)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:cut])
        with pytest.raises(SourdineError, match=r"p\.ledger"):
            FileLedger(path, TERMS)
    path.write_bytes(whole[:8192] + b"\xa7" * 8192 + whole[16384:])
    with pytest.raises(SourdineError, match="written by Sourdine"):
        FileLedger(path, TERMS)


@pytest.mark.parametrize(
    "numbers", [("1/10", "0", "1/10", "0"), ("2", "0", "2", "0"), ("x", 1, 1, 1), (None,) * 4]
)
def test_lines_that_do_not_add_up_are_refused(tmp_path, numbers):
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    spend(ledger, 0.5)
    names = ("epsilon", "delta", "spent_epsilon", "spent_delta")
    row = {"number": 2, "time": "t", "what": "w", "mechanism": "m", "parameters": "{}", "parts": []}
    row |= dict(zip(names, numbers, strict=True))
    ledger.journal.turn(lambda page: page.write("charges", row))
    with pytest.raises(ParameterError, match="written by Sourdine"):
        FileLedger(path, TERMS)


def test_a_later_format_is_refused(tmp_path):
    path = tmp_path / "p.ledger"
    Journal(path, FileKind("ledger", "ledger", 9), [])
    with pytest.raises(ParameterError, match="of format 9"):
        FileLedger(path, TERMS)


def test_a_deleted_ledger_does_not_begin_anew(tmp_path):
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    spend(ledger, 0.9)
    path.rename(tmp_path / "moved")
    with pytest.raises(SourdineError, match="no such file"):
        spend(ledger, 0.9)
    FileLedger(path, TERMS)
    with pytest.raises(ParameterError, match="must be the file that was opened"):
        spend(ledger, 0.9)
    path.write_bytes(b"")
    with pytest.raises(SourdineError, match=r"p\.ledger"):
        spend(ledger, 0.9)


def test_a_copy_of_the_one_file_holds_every_charge(tmp_path):
    path, copy = tmp_path / "p.ledger", tmp_path / "copy.ledger"
    ledger = FileLedger(path, TERMS)
    for _ in range(5):
        spend(ledger, 0.1)
        shutil.copy(path, copy)
        assert FileLedger(copy, TERMS).account.spent == ledger.account.spent


def test_a_held_ledger_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE", 0.05)
    path = tmp_path / "p.ledger"
    ledger = FileLedger(path, TERMS)
    with path.open("r+b", buffering=0) as holder:
        locks.hold(holder, 1)
        with pytest.raises(SourdineError, match="another process has held it"):
            spend(ledger, 0.1)
    spend(ledger, 0.1)
    assert len(ledger.history) == 1


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(SourdineError, match="no such folder"):
        FileLedger(tmp_path / "nowhere" / "p.ledger", TERMS)
    with pytest.raises(FileNotFoundError, match="No such file: "):
        FileLedger(tmp_path / "p.ledger", None)
    assert not (tmp_path / "p.ledger").exists()


def test_an_interrupted_charge_is_undone(tmp_path, monkeypatch):
    ledger = FileLedger(tmp_path / "p.ledger", TERMS)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(lines, "following", interrupt)
        with pytest.raises(KeyboardInterrupt):
            spend(ledger, 0.1)
    spend(ledger, 0.1)
    assert ledger.account.spent.epsilon == Fraction(1, 10)
    assert [p.name for p in tmp_path.iterdir()] == ["p.ledger"]
