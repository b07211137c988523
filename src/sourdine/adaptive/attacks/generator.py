"""The random numbers of attackers and players."""

from __future__ import annotations

import numpy as np

from sourdine.errors import ParameterTypeError

__all__ = ["generator"]


def generator(rng: object) -> np.random.Generator:
    """Return a generator as it is; anything else, as a seed, is refused.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> generator(rng) is rng
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    raise ParameterTypeError(
        f"rng must be a generator of numpy, got something of type {type(rng).__name__}. "
        "Type rng=np.random.default_rng(1)."
    )
