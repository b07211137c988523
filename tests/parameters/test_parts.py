"""The parts of every question of the table make what it costs."""

from __future__ import annotations

import pytest

import sourdine as sd
from sourdine.privacy.accounting import compose
from sourdine.privacy.accounting.parts import plain
from sourdine.questions import STATISTICS


@pytest.mark.quick_cases(2, slow=len(STATISTICS))
def test_every_question_says_what_its_loss_is_made_of(questions):
    """Exactly so; the shares of a table are rounded down, and Gaussian noise has no epsilon."""
    for asked in questions:
        question = getattr(sd.plan, asked.name)(**asked.typed).question
        parts, cost = question.parts, question.cost
        epsilon, delta = plain(parts)
        if epsilon is None:
            assert compose(parts).delta(cost.epsilon).upper <= 1.0001 * cost.delta, str(asked)
        elif asked.name in ("table", "sql"):
            assert 0.99 * cost.epsilon <= epsilon <= cost.epsilon, str(asked)
            assert delta == cost.delta, str(asked)
        else:
            assert (epsilon, delta) == (cost.epsilon, cost.delta), str(asked)
