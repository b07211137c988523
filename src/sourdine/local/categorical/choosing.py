r"""Which randomiser of a category: the least variance, and then the shortest report.

Everything is decided by :math:`k` and :math:`\varepsilon`, before anybody answers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import given, integer
from sourdine.local.categorical.hashing import CELLS, HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.mechanisms.randomized_response import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.exact import Number

    Chosen = RandomizedResponse | UnaryEncoding | LocalHashing | HadamardResponse | SubsetSelection


SLACK = 1.05  # a variance this much above the least is worth a shorter report


def oracles() -> Mapping[str, Callable[..., Chosen]]:
    """Return every randomiser of a category by its name, to be built from epsilon and k.

    Examples
    --------
    >>> list(oracles())
    ['response', 'unary', 'symmetric', 'hashing', 'hadamard', 'subset']
    >>> print(oracles()["hashing"](epsilon=1, categories=50))
    LocalHashing(epsilon=1, categories=50)
    """
    return {
        "response": RandomizedResponse,
        "unary": UnaryEncoding,
        "symmetric": partial(UnaryEncoding, method="symmetric"),
        "hashing": LocalHashing,
        "hadamard": HadamardResponse,
        "subset": SubsetSelection,
    }


def best_oracle(epsilon: Number, categories: int, *, most_bits: int | None = None) -> Chosen:
    r"""Return the randomiser to use for :math:`k` categories at this epsilon.

    All are compared by the variance of a rare category's estimate, ``noise_variance``. Among those
    within 5% of the least, the one with the shortest report is taken, and of these the one of
    least variance.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2.
    most_bits
        The longest report that is allowed; any if left out.

    Notes
    -----
    *Claim*: nobody's variance is smaller by more than 5%. *Checked by*
    ``test_no_other_is_much_better``; the table in ``docs/guides/categorical.md`` by
    ``test_choices_are_those_of_the_guide``.

    Examples
    --------
    >>> print(best_oracle(1, 3))
    RandomizedResponse(epsilon=1, categories=3)
    >>> print(best_oracle(2, 1000))
    LocalHashing(epsilon=2, categories=1000)
    """
    shortest = RandomizedResponse(epsilon=epsilon, categories=categories)
    allowed = None if most_bits is None else integer(most_bits, "most_bits", example=shortest.bits)
    if allowed is not None and allowed < shortest.bits:
        must = f"be at least {shortest.bits} for {shortest.categories} categories"
        hint, tries = "Use {most_bits}, or group the answers first.", {"most_bits": shortest.bits}
        raise ParameterError("most_bits", must, given(allowed), hint, **tries)
    if shortest.categories > CELLS // 2:
        return shortest
    built = [make(epsilon=epsilon, categories=categories) for make in oracles().values()]
    fitting = [oracle for oracle in built if allowed is None or oracle.bits <= allowed]
    least = min(oracle.noise_variance for oracle in fitting)
    near = [oracle for oracle in fitting if oracle.noise_variance <= SLACK * least]
    return min(near, key=lambda oracle: (oracle.bits, oracle.noise_variance))
