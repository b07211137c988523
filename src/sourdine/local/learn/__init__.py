"""Learning from randomised tables, for scikit-learn (``pip install '.[learn]'``)."""

from sourdine.presentation.figures import MissingExtraError

try:
    import sklearn as _sklearn
except ImportError as error:
    raise MissingExtraError(
        "scikit-learn",
        "be installed to learn",
        "none",
        "In the checkout, type pip install '.[learn]'.",
    ) from error

from sourdine.local.learn.naive_bayes import NoisyGaussianNB
from sourdine.local.learn.transformers import Sanitizer

__all__ = ["NoisyGaussianNB", "Sanitizer"]

del _sklearn
