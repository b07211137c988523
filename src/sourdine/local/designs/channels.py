"""Exact channels: weights in whole numbers, certified, and the table of those that are known."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.local.designs.solver import Solution

    Ints = NDArray[np.int64]
    Whole = tuple[int, ...]


# ---- The exact channel: whole numbers of probability whose ratios are certified ------------------
#
# A probability is a whole number of units of 2**-40. An output has the weight l outside its subset
# and h = floor(R l) on it, where R is a rational just below e^epsilon, so h/l <= e^epsilon. What
# the columns then lack of 2**40 is the weight of one more output, the *rest*. It holds about 2**-14
# of all, so its own ratios are near 1; they are checked like all others, in whole numbers.


BITS = 40
UNIT = 1 << BITS
COARSE = 8  # lower weights are multiples of 2**8 units, so that the table holds them in 32 bits
MOST_CATEGORIES = 256
MOST_OUTPUTS = 1 << 12
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 20), 12


def likelier(epsilon: Fraction) -> Fraction:
    r"""Return :math:`2^{80} / \lceil 2^{80} e^{-\varepsilon}\rceil \le e^\varepsilon`.

    A browser computes the same.

    Examples
    --------
    >>> float(likelier(Fraction(1)))
    2.718281828459045
    """
    return Fraction(1 << 80, exp_neg(epsilon).ends(80)[1])


def read_epsilon(epsilon: Number) -> Fraction:
    """Return epsilon, within which probabilities in whole units lose next to nothing."""
    spent = positive(epsilon, "epsilon")
    if not LEAST_EPSILON <= spent <= MOST_EPSILON:
        must = f"be from {float(LEAST_EPSILON)} to {MOST_EPSILON} for a design"
        raise ParameterError("epsilon", must, given(epsilon), "Use {epsilon}.", epsilon=1)
    return spent


def rounded(solution: Solution, epsilon: Fraction) -> tuple[Whole, Whole]:
    """Return the subsets as whole numbers, and the lower weight of each output in units."""
    ratio = float(likelier(epsilon))
    weights = np.where(solution.subsets, ratio, 1.0)
    theta = solution.theta / float((solution.theta @ weights).max())
    bits = [sum(1 << i for i in np.flatnonzero(row).tolist()) for row in solution.subsets]

    def of(spare: int) -> list[int]:
        return list(map(int, np.floor(theta * (1 - 2.0**-spare) * (UNIT >> COARSE))))

    return spared(bits, of, epsilon, weights.shape[1])


def spared(
    bits: Sequence[int], of: Callable[[int], list[int]], epsilon: Fraction, k: int
) -> tuple[Whole, Whole]:
    """Return subsets and lower weights that leave a rest within epsilon, the least that does.

    ``of`` gives lower weights in units of 2**8, for a rest of about 2**-spare.
    """
    spare = 14
    while True:
        found = [(b, low << COARSE) for b, low in zip(bits, of(spare), strict=True) if low > 0]
        subsets, lows = (tuple(side) for side in zip(*found, strict=True))
        if spare <= 4 or fault(matrix(subsets, lows, epsilon, k), epsilon) is None:
            return subsets, lows
        spare -= 1


def matrix(subsets: Sequence[int], lows: Sequence[int], epsilon: Fraction, k: int) -> Ints:
    """Return the weights of all outputs for all categories in units, the rest last."""
    ratio = likelier(epsilon)
    highs = np.array([low * ratio.numerator // ratio.denominator for low in lows], np.int64)
    width = -(-k // 8)
    packed = np.array([list(subset.to_bytes(width, "little")) for subset in subsets], np.uint8)
    inside = np.unpackbits(packed, axis=1, count=k, bitorder="little").astype(np.bool_)
    weights = np.where(inside, highs[:, None], np.array(lows, np.int64)[:, None])
    return np.vstack([weights, UNIT - weights.sum(axis=0)])


def fault(weights: Ints, epsilon: Fraction) -> str | None:
    """Return what keeps the weights from being a channel at this epsilon, in whole numbers."""
    if int(weights.min()) < 1:
        return "weights of at least one unit"
    if int(weights.max()) > UNIT:  # so that no sum passes 64 bits
        return "weights of at most 2**40 units"
    ratio = likelier(epsilon)
    for most, least in zip(weights.max(axis=1).tolist(), weights.min(axis=1).tolist(), strict=True):
        if most * ratio.denominator > least * ratio.numerator:
            return "weights whose ratios are at most e^epsilon"
    return None if (weights.sum(axis=0) == UNIT).all() else "columns that add up to 2**40 units"


# ---- The table of designs for distribution functions that need not be computed -------------------


TABLE, NUMBERS = "designs.npz", "numbers.npz"
"""Designs for a distribution function alone, and for one and the mean together."""


@lru_cache(2)
def known(table: str = TABLE) -> dict[tuple[int, Fraction], tuple[Whole, Whole]]:
    """Return the subsets and weights of the known designs."""
    path = files("sourdine.local.designs") / table
    if not path.is_file():
        return {}
    with path.open("rb") as file, np.load(file) as held:
        index, subsets, lows = (held[name] for name in ("index", "subsets", "lows"))
    found, pairs = {}, zip(subsets.tolist(), lows.tolist(), strict=True)
    for k, numerator, denominator, size in index.tolist():
        whole: dict[int, int] = {}
        for (first, more), low in islice(pairs, size):  # words of 64 categories
            subset = first | more << 64
            whole[subset] = whole[reversed_subset(subset, k)] = low << COARSE
        found[k, Fraction(numerator, denominator)] = tuple(whole), tuple(whole.values())
    return found


def reversed_subset(subset: int, k: int) -> int:
    """Return the subset of ``k`` categories in reverse order."""
    return int(f"{subset:0{k}b}"[::-1], 2)


# ---- The known design nearest to what is asked for -----------------------------------------------


def nearest(most: int, epsilon: Fraction, table: str = TABLE) -> tuple[int, Whole, Whole]:
    """Return the known design of the most categories up to a number, fitted to any epsilon.

    Examples
    --------
    >>> k, subsets, lows = nearest(9, Fraction(3, 2))
    >>> k, len(subsets), fault(matrix(subsets, lows, Fraction(3, 2), k), Fraction(3, 2))
    (9, 44, None)
    """
    k = max(k for k in sizes(table) if k <= max(most, 2))
    at, subsets, lows = closest(k, epsilon, table)
    return k, *((subsets, lows) if at == epsilon else fitted(k, subsets, lows, epsilon))


def thinned(k: int, epsilon: Fraction, table: str) -> tuple[int, Whole, Whole]:
    r"""Return a design of so many categories: a known one, or some categories of the largest.

    Some rows of a channel are a channel that keeps epsilon. The ``k`` that are kept are spread
    evenly, alike from both ends, as the number of the largest is odd. Outputs of one subset become
    one, and those that are alike for all ``k`` are left out. *Checked by*
    ``test_categories_of_the_largest_design_are_a_design``.

    Examples
    --------
    >>> k, subsets, lows = thinned(17, Fraction(1), NUMBERS)
    >>> k, fault(matrix(subsets, lows, Fraction(1), k), Fraction(1))
    (17, None)
    """
    if k in (held := sizes(table)):
        return nearest(k, epsilon, table)
    last = held[-1] - 1
    half = [(2 * i * last + k - 1) // (2 * (k - 1)) for i in range(k // 2)]
    kept = [*half, *[last // 2] * (k % 2), *(last - cell for cell in reversed(half))]
    found = Counter[int]()
    _, subsets, lows = closest(held[-1], epsilon, table)
    for subset, low in zip(subsets, lows, strict=True):
        found[sum((subset >> cell & 1) << u for u, cell in enumerate(kept))] += low
    del found[0], found[(1 << k) - 1]
    return k, *fitted(k, tuple(found), tuple(found.values()), epsilon)


def sizes(table: str) -> list[int]:
    """Return for how many categories designs are known."""
    return sorted({k for k, _ in known(table)})


def closest(k: int, epsilon: Fraction, table: str) -> tuple[Fraction, Whole, Whole]:
    """Return the next epsilon, by its logarithm, for which a design is known, and that design."""
    held = known(table)
    spans = sorted(at for size, at in held if size == k)
    at = next((x for x, y in pairwise(spans) if epsilon**2 <= x * y), spans[-1])
    return at, *held[k, at]


def fitted(
    k: int, subsets: Sequence[int], lows: Sequence[int], epsilon: Fraction
) -> tuple[Whole, Whole]:
    r"""Return the subsets and lower weights of a design for an epsilon, made of one for another.

    In a design every category is in as many subsets as any other, counted by weight: with the
    lower weights :math:`\theta_o`, what lies on the subsets of a category adds up to
    :math:`(1 - \sum_o\theta_o)/(e^\varepsilon - 1)` for all of them. So the same :math:`\theta`,
    scaled, makes a channel at any other epsilon. All is done in whole numbers: every machine finds
    the same channel.
    """
    pairs, ratio = list(zip(subsets, lows, strict=True)), likelier(epsilon)
    least = min(sum(low for s, low in pairs if s >> u & 1) for u in range(k))
    whole = sum(lows) * ratio.denominator + least * (ratio.numerator - ratio.denominator)

    def of(spare: int) -> list[int]:
        left = (1 << spare) - 1
        most = (UNIT >> COARSE) * ratio.denominator * left
        return [low * most // (whole << spare) for low in lows]

    return spared(subsets, of, epsilon, k)


# ---- A channel as a text: half of it, as the other half is its mirror image ----------------------


def written(k: int, subsets: Sequence[int], lows: Sequence[int]) -> str:
    """Return a symmetric channel as a text that travels in schemas and forms.

    Examples
    --------
    >>> written(3, (0b001, 0b100, 0b010), (256, 256, 512))
    '3 1:1 2:2'
    """
    pairs = zip(subsets, lows, strict=True)
    half = (f"{s:x}:{low >> COARSE:x}" for s, low in pairs if s <= reversed_subset(s, k))
    return " ".join([str(k), *half])


TEXT = re.compile(r"([1-9][0-9]{0,2})((?: [0-9a-f]{1,64}:[0-9a-f]{1,8}){1,4095})")


def parse(text: object) -> tuple[int, Whole, Whole] | None:
    """Return the categories, subsets and lower weights of a text; None if it is none.

    Examples
    --------
    >>> parse("3 1:1 2:2")
    (3, (1, 4, 2), (256, 256, 512))
    """
    found = TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    k, subsets, lows = int(found[1]), list[int](), list[int]()
    for pair in found[2].split():
        subset, low = (int(side, 16) for side in pair.split(":"))
        if not 0 < subset < (1 << k) - 1 or not low:
            return None
        both = dict.fromkeys((subset, reversed_subset(subset, k)))
        subsets += both
        lows += [low << COARSE] * len(both)
    return k, tuple(subsets), tuple(lows)
