"""Learning from randomised tables, for scikit-learn (``pip install '.[learn]'``)."""

from sourdine.results.charts import MissingExtraError

try:
    import sklearn as _sklearn
except ImportError as error:
    raise MissingExtraError(
        "scikit-learn",
        "be installed to learn",
        "none",
        "In the checkout, type pip install '.[learn]'.",
    ) from error

from sourdine.local.learn.naive_bayes import NoisyGaussianNB, Sanitizer

__all__ = ["NoisyGaussianNB", "Sanitizer"]

del _sklearn
