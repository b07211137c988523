"""Two analysts, keys, retries, crashes and lost draws: the store agrees with a small model."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sourdine.errors import BudgetExceededError
from sourdine.server.store.base import KeyReusedError
from sourdine.server.store.store import ServerStore
from sourdine.session import Session
from store_requests import DATA, charge_once, counts, drawing, filled, request

GRANT, TOTAL = Fraction(3, 5), Fraction(1)
KEYS = st.sampled_from("abcd")
ANALYSTS = st.sampled_from(["anna", "ben"])
EPSILONS = st.sampled_from([0.1, 0.25, 0.4])
ENDS = st.sampled_from(["answered", "failed", "killed before the draw", "killed after the draw"])


class KilledError(BaseException):
    """What ends a process."""


class StoreMachine(RuleBasedStateMachine):
    """Whatever happens, in whatever order: charges, answers and refusals are those of the model."""

    def __init__(self):
        super().__init__()
        self.model = {}
        self.draws = 0

    @initialize()
    def begin(self):
        self.address = self.new_address()
        self.store = filled(ServerStore.create(self.address))
        for name in ("anna", "ben"):
            self.store.grants.give("ages", name, GRANT)
        self.session = Session(DATA, ledger=self.store.datasets.ledger("ages"))

    def spent(self, analyst=None):
        """Return what the model says was charged."""
        found = (one for (who, _), one in self.model.items() if analyst in (None, who))
        return sum((Fraction(str(one["epsilon"])) for one in found), Fraction(0))

    @rule(analyst=ANALYSTS, key=KEYS, epsilon=EPSILONS, end=ENDS)
    def ask(self, analyst, key, epsilon, end):
        known = self.model.get((analyst, key))
        asked = drawing(counts(self.session, epsilon), lambda: self.draw(end))
        wanted = request(key, analyst, body=f"count {epsilon}")
        if known is not None and known["epsilon"] != epsilon:
            with pytest.raises(KeyReusedError):
                charge_once(self.store, wanted, asked)
            return
        cost = Fraction(str(epsilon))
        if known is None and (self.spent(analyst) + cost > GRANT or self.spent() + cost > TOTAL):
            with pytest.raises(BudgetExceededError):
                charge_once(self.store, wanted, asked)
            return
        one = self.model.setdefault((analyst, key), {"epsilon": epsilon, "state": "charged"})
        drawn = one["state"] == "charged"
        if drawn and end.startswith("killed"):
            with pytest.raises(KilledError):
                charge_once(self.store, wanted, asked)
            self.restart()
            return
        before = self.draws
        stored = charge_once(self.store, wanted, asked)
        if drawn:
            one["state"] = end
            one["answers"] = (f'{{"draw": {self.draws}}}',) if end == "answered" else ()
        else:
            assert self.draws == before
        assert (stored.state, stored.answers) == (one["state"], one["answers"])
        assert stored.fresh == (known is None)

    def draw(self, end):
        if end == "killed before the draw":
            raise KilledError
        self.draws += 1
        if end == "killed after the draw":
            raise KilledError
        if end == "failed":
            raise ZeroDivisionError
        return [f'{{"draw": {self.draws}}}']

    @rule()
    def restart(self):
        """Go on in another process, as it were."""
        self.store.close()
        self.store = ServerStore.open(self.address)
        self.session = Session(DATA, ledger=self.store.datasets.ledger("ages"))

    @invariant()
    def agrees(self):
        if not hasattr(self, "store"):
            return
        assert self.session.spent.epsilon == self.spent()
        found = {
            (one.request.analyst, one.request.key): one for one in self.store.releases.of("ages")
        }
        assert found.keys() == self.model.keys()
        for key, one in self.model.items():
            assert found[key].state == one["state"]
            assert found[key].answers == one.get("answers", ())
        for name in ("anna", "ben"):
            assert self.store.grants.get("ages", name).spent == self.spent(name)

    def teardown(self):
        if hasattr(self, "store"):
            assert all(self.store.check())
            self.store.close()
            self.delete()


class SqliteMachine(StoreMachine):
    """In a file."""

    def new_address(self):
        self.folder = Path(tempfile.mkdtemp())
        return f"sqlite:///{self.folder}/store.db"

    def delete(self):
        shutil.rmtree(self.folder)


SqliteMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=12)
TestSqliteMachine = SqliteMachine.TestCase


@pytest.mark.slow
def test_the_same_on_postgres(postgres_cluster):
    class PostgresMachine(StoreMachine):
        def new_address(self):
            self.made = postgres_cluster.create()
            return self.made

        def delete(self):
            postgres_cluster.drop(self.made)

    case = PostgresMachine.TestCase
    case.settings = settings(max_examples=3, stateful_step_count=15)
    case("runTest").runTest()
