"""The random numbers of attackers and players."""

from __future__ import annotations

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind

__all__ = ["generator"]


def generator(rng: object) -> np.random.Generator:
    """Return a generator as it is; anything else, such as a seed, is refused.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> generator(rng) is rng
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    raise ParameterTypeError(
        "rng", "be a generator of NumPy", kind(rng), "Type np.random.default_rng(1)."
    )
