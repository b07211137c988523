"""Learning from randomised tables, for scikit-learn (``pip install '.[learn]'``)."""

from sourdine.errors import MissingExtraError

try:
    import sklearn as _sklearn
except ImportError as error:
    raise MissingExtraError.of("learn") from error

from sourdine.local.learn.naive_bayes import NoisyGaussianNB, Sanitizer

__all__ = ["NoisyGaussianNB", "Sanitizer"]

del _sklearn
