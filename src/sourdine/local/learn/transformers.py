"""Randomise rows inside a scikit-learn pipeline."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from sourdine.errors import ParameterError
from sourdine.local.table import Schema
from sourdine.noise import SYSTEM
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise import Source

__all__ = ["Sanitizer"]

CLEAR = "Sanitizer has no schema: rows pass in the clear. Type Sanitizer(schema)."


class Sanitizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Randomise every row by a schema, as `Schema.sanitize` does.

    It learns nothing, so it needs no `fit`, and no two calls of `transform` are alike: each costs
    the rows' people epsilon again. A pipeline calls it on the training rows when it is fitted, and
    on other rows when it predicts. It does not see ``y``: to randomise labels too, sanitise the
    table first.

    Parameters
    ----------
    schema
        The columns of ``X`` and what a row may cost. An array's columns are the schema's in order;
        a frame's are found by name and keep the frame's type. None: rows pass unchanged, in the
        clear, with a warning.
    source
        Where the random bits come from; None for the operating system. A seeded one is for
        experiments and protects nobody.

    Attributes
    ----------
    cost_
        What one call of `transform` costs a row. Calls on the same rows add up:
        ``schema.cost(times=2)``.

    Notes
    -----
    *Claim*: an array is randomised as `Schema.sanitize` does it. *Checked by*
    ``test_sanitizer_is_the_schema``. *Claim*: it obeys scikit-learn's rules for transformers.
    *Checked by* ``test_scikit_learn_checks``.

    Examples
    --------
    >>> from sourdine.local.table import Number, Schema
    >>> columns = {"age": Number(0, 120, 1, method="laplace"), "bmi": Number(15, 70, 0.5)}
    >>> schema = Schema.of(columns, epsilon=4, missing="random")
    >>> rows = Sanitizer(schema).transform([[31, 22.5], [64, 28.0]])
    >>> rows.shape, bool((0 <= rows[:, 0]).all() and (rows[:, 0] <= 120).all())
    ((2, 2), True)
    >>> print(Sanitizer(schema).cost_)
    epsilon 4, any two inputs of one person
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"schema": [Schema, None]}

    def __init__(self, schema: Schema | None = None, *, source: Source | None = None) -> None:
        self.schema = schema
        self.source = source

    @property
    def cost_(self) -> Guarantee:
        """What one call of `transform` costs a row."""
        if self.schema is None or not (self.source or SYSTEM).private:
            return Guarantee.none(LOCAL)
        return self.schema.guarantee

    def fit(self, X: Any, y: Any = None) -> Sanitizer:  # noqa: ANN401, N803
        """Look at the number and the names of the columns, and at nothing else."""
        del y
        self._validate_params()
        self._read(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:  # noqa: ANN401, N803
        """Return the rows, randomised."""
        self._validate_params()
        if self.schema is None:
            warnings.warn(CLEAR, UserWarning, stacklevel=2)
            return validate_data(self, X, reset=False, copy=True)
        source = self.source or SYSTEM
        if hasattr(X, "columns"):
            return self.schema.sanitize(X, source=source)
        columns = _columns(self.schema, X)
        clean = self.schema.sanitize(
            dict(zip(self.schema.columns, columns, strict=True)), source=source
        )
        return _stacked([clean[name] for name in self.schema.columns])

    def _read(self, X: Any, *, reset: bool) -> None:  # noqa: ANN401, N803
        """Look at the columns; with a schema at nothing in them, for no value may raise."""
        if self.schema is None:
            validate_data(self, X, reset=reset)
            return
        if not hasattr(X, "columns"):
            _columns(self.schema, X)
        self.n_features_in_ = len(self.schema.columns)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.requires_fit = False
        tags.input_tags.allow_nan = self.schema is not None
        return tags


def _columns(schema: Schema, X: Any) -> list[Any]:  # noqa: ANN401, N803
    """Return the columns of rows, each cell as it is: no cell changes how another is read."""
    width = len(schema.columns)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == width:
        return list(X.T)
    rows = X if isinstance(X, (list, tuple)) else []
    fits = all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == width for row in rows)
    if not isinstance(X, (list, tuple)) or not fits:
        raise ParameterError(
            "X",
            f"be rows of the {width} columns of the schema",
            "other rows",
            f"Pass a frame, or an array of the columns {list(schema.columns)} in this order.",
        )
    return [[row[i] for row in rows] for i in range(width)]


def _stacked(columns: list[Any]) -> NDArray[Any]:
    """Return columns side by side; a blank of numbers is NaN."""
    numbers = [_filled(column) for column in columns]
    plain = all(c.dtype.kind in "iufb" for c in numbers)
    return np.column_stack([c.astype(np.float64 if plain else object) for c in numbers])


def _filled(column: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return a column with NaN for blanks, if it is of numbers."""
    if isinstance(column, np.ma.MaskedArray):
        blanks = column.mask.any()
        return np.where(column.mask, np.nan, column.data) if blanks else column.data
    return np.array([np.nan if v is None else v for v in column])
