"""The guard where people already search: scikit-learn's scorers and Optuna's callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.adaptive.holdout.guard import read_guard
from sourdine.adaptive.holdout.labels import same_rows
from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import flag, kind, number

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sourdine.adaptive.holdout.guard import GuardedHoldout, Verdict
    from sourdine.exact import Number


class GuardedScorer:
    """A scorer as scikit-learn calls it; see `guarded_scorer`."""

    __slots__ = ("features", "guard", "step")

    def __init__(self, guard: GuardedHoldout, step: Number = 0.01, features: object = None) -> None:
        self.guard = read_guard(guard)
        self.step: Fraction = number(step, "step", above=0, most=1)
        self.features = features

    def __call__(self, estimator: Any, X: object, y: object = None) -> float:  # noqa: N803
        """Predict the rows of the evaluation data and ask the guard for the score."""
        if self.features is not None and not same_rows(X, self.features):
            raise ParameterError(
                "X", "be the rows of the guard, in the same order", "",
                "Use GridSearchCV(..., cv=[(train, evaluation)]), or omit {features} if columns "
                "are shuffled.", features=LEFT_OUT,
            )  # fmt: skip
        return self.guard.score(estimator.predict(X), step=self.step).value

    def __repr__(self) -> str:
        return f"guarded_scorer({self.guard!r}, step={float(self.step):g})"


def guarded_scorer(
    guard: GuardedHoldout, *, step: Number = 0.01, features: object = None
) -> GuardedScorer:
    """Return a scorer, ``scorer(estimator, X, y=None)``, that asks a guard.

    ``X`` are the features of the guard's own rows, in its order; ``y`` is not looked at, for the
    guard has the labels. Every call is charged as a ``score``. So it fits wherever whole sets are
    scored: a search with one fixed split (``cv=[(train, evaluation)]`` with ``refit=False`` and
    ``error_score="raise"``), ``permutation_importance``, a loop of your own. It does not fit cross
    validation that cuts data into folds: those of another length than the guard's are refused,
    those of the same length only where ``features`` are given.

    Parameters
    ----------
    guard
        It holds the labels.
    step
        The spacing of the grid of the scores.
    features
        Those of the guard's rows. If given, a call with any other ``X`` is refused and
        costs nothing; leave it out for ``permutation_importance``, which shuffles columns.

    Examples
    --------
    >>> from sourdine.adaptive.holdout.guard import GuardedHoldout
    >>> class Parity:
    ...     def predict(self, X):
    ...         return [x % 2 for x in X]
    >>> guard = GuardedHoldout([0, 1] * 500)
    >>> guarded_scorer(guard)(Parity(), range(1000))
    1.0
    """
    return GuardedScorer(guard, step, features)


class GuardCallback:
    """A callback of a study, as Optuna calls it: ``callback(study, trial)``.

    It asks the guard only when a trial has become the study's best on the development data, and
    asks for one bit: is it better on the evaluation data too? The study stops when nothing is
    left.

    Parameters
    ----------
    guard
        It holds the labels; give it a ``baseline``, which the first trial must beat.
    predictions
        A function of study and trial that returns the predictions of the trial's model for the
        evaluation data, or the name of the user attribute that holds them.
    certified
        Confirm only what is proved to be better.

    Attributes
    ----------
    verdicts
        The number of each trial that was put to the guard, and what was said.
    confirmed
        The number of the trial confirmed last; None if none was.
    exhausted
        Whether the study was stopped since nothing is left.
    """

    __slots__ = ("_certified", "_predictions", "confirmed", "exhausted", "guard", "verdicts")

    def __init__(
        self,
        guard: GuardedHoldout,
        predictions: Callable[[Any, Any], object] | str = "predictions",
        *,
        certified: bool = False,
    ) -> None:
        if not (callable(predictions) or isinstance(predictions, str)):
            must = "be a function of study and trial, or a name"
            hint = "Use GuardCallback(guard, lambda study, trial: models[trial.number].predict(X))."
            raise ParameterTypeError("predictions", must, kind(predictions), hint)
        self.guard, self._predictions = read_guard(guard), predictions
        self._certified = flag(certified, "certified")
        self.verdicts: list[tuple[int, Verdict]] = []
        self.confirmed: int | None = None
        self.exhausted = False

    def __call__(self, study: Any, trial: Any) -> None:
        """Ask about a trial that has just become the best one."""
        if trial.value is None or study.best_trial.number != trial.number:
            return
        try:
            verdict = self.guard.confirm(self._of(study, trial), certified=self._certified)
        except BudgetExceededError:
            self._stop(study)
            return
        self.verdicts.append((trial.number, verdict))
        if verdict:
            self.confirmed = trial.number
        if verdict.remaining is not None and verdict.remaining.answers == 0:
            self._stop(study)

    def __repr__(self) -> str:
        return (
            f"GuardCallback({self.guard!r}, certified={self._certified}, "
            f"asked={len(self.verdicts)}, confirmed={self.confirmed})"
        )

    def _of(self, study: Any, trial: Any) -> object:
        if callable(self._predictions):
            return self._predictions(study, trial)
        if self._predictions not in trial.user_attrs:
            must = f"be stored in the user attribute {self._predictions!r} of each trial"
            hint = f"Call trial.set_user_attr({self._predictions!r}, ...) in the objective."
            raise ParameterTypeError("predictions", must, "", hint)
        return trial.user_attrs[self._predictions]

    def _stop(self, study: Any) -> None:
        self.exhausted = True
        study.stop()
