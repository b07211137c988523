"""How far the noise of a tree of counts reaches: the table of ``central/quantiles/tree.py``.

Run ``python benchmarks/tree_reach.py`` (a quarter of an hour; ``--samples 1000`` for a rough look).
For a tree of b children and h levels with Laplace noise of scale 1 on every node, S the running
sums of the consistent leaves, it prints the quantiles of the greatest of all
max(|S_i|, |S_i - S_last|), one line a tree.
"""

from __future__ import annotations

import argparse

import numpy as np

from sourdine.central.quantiles.tree import consistent

SHAPES = {
    2: (2, 3, 4, 6, 8, 11, 16, 23, 32),
    3: (3, 8, 11, 16, 21, 26),
    4: (3, 8, 12, 16, 20, 23),
    5: (3, 8, 13, 17, 22),
}
RISKS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
WORK = 3e9
"""About so many noises are drawn for a tree."""


def reach(b: int, h: int, rng: np.random.Generator) -> float:
    """Return the greatest of one tree's running sums."""
    noises = rng.laplace(size=sum(b**k for k in range(1, h + 1)))
    sums = np.cumsum(consistent(noises, b, h))
    low, high, last = float(sums.min()), float(sums.max()), float(sums[-1])
    return max(high, -low, high - last, last - low)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=40_000)
    most = parser.parse_args().samples
    for h, branchings in SHAPES.items():
        for b in branchings:
            rng = np.random.default_rng(100 * h + b)
            size = int(min(most, max(1000, WORK / b**h)))
            drawn = [reach(b, h, rng) for _ in range(size)]
            line = ", ".join(f"{np.quantile(drawn, 1 - risk):.2f}" for risk in RISKS)
            print(f"({h}, {b}): ({line}),  # {size}", flush=True)


if __name__ == "__main__":
    main()
