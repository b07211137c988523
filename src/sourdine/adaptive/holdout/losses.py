"""How wrong a prediction is: a value from 0 to 1 for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings

import numpy as np

from sourdine.adaptive.holdout.labels import NUMBER, Labels, same
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number

    Losses = NDArray[np.float64]

__all__ = ["Absolute", "Loss", "Own", "ZeroOne", "loss_of", "read_loss"]


class Loss(ABC):
    """A loss of one row, between 0 and 1; a row whose label is missing loses 1 whatever is said."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, predictions: Labels, labels: Labels) -> Losses:
        """Return the loss of each row."""

    def levels(self, n: int) -> int:
        """Return how many values the exact average over n rows can have, as a float."""
        del n
        return 1 << 62

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Return predictions, or say what is wrong with them; nothing said depends on a label."""
        column = Labels.read(given, name, labels.kind)
        if column.kind != labels.kind:
            raise ParameterTypeError(
                name,
                f"be {labels.kind}s, as the labels are",
                f"{column.kind}s",
                "Convert them first: 1 and '1' are not the same.",
            )
        return column

    def facts(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class ZeroOne(Loss):
    """1 where the prediction is not the label, else 0: the average is one minus the accuracy."""

    name: ClassVar[str] = "zero-one"

    def of(self, predictions: Labels, labels: Labels) -> Losses:
        """Return 1 for each mistake."""
        return 1.0 - same(labels, predictions).astype(np.float64)

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Refuse fractions where all labels are whole: they are probabilities, right nowhere."""
        column = Loss.read(self, given, name, labels)
        if column.fractional and not labels.fractional:
            raise ParameterError(
                name,
                "be labels, such as 0 or 1",
                "fractions",
                "Type (p > 0.5).astype(int) where p are probabilities.",
            )
        return column

    def levels(self, n: int) -> int:
        """Return n + 1: no mistake up to n of them."""
        return n + 1


@dataclass(frozen=True, slots=True)
class Absolute(Loss):
    r"""The distance in units of a public scale, 1 at most: :math:`\min(1, |\hat y - y| / s)`."""

    scale: Number
    name: ClassVar[str] = "absolute"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def of(self, predictions: Labels, labels: Labels) -> Losses:
        """Return each distance."""
        with np.errstate(over="ignore", invalid="ignore"):
            far = np.abs(predictions.values.astype(np.float64) - labels.values.astype(np.float64))
            return _bounded(far / float(self.scale))

    def facts(self) -> dict[str, Any]:
        """Return the name and the scale."""
        return {"name": self.name, "scale": str(self.scale)}


@dataclass(frozen=True, slots=True)
class Own(Loss):
    """Your own function of two arrays, predictions and labels, to a loss for each row.

    The loss of a row may depend on that row alone: no interval holds for anything else.

    It is tried once, on the labels as their own predictions, when the guard is made. From then on
    whatever is outside [0, 1] counts as the nearest end, and all that is not a number, or where
    the function raises, counts as 1: an error would tell about the labels. Warnings are not shown.
    """

    function: Callable[[Any, Any], Any] = field(repr=False)
    name: ClassVar[str] = "own"

    def of(self, predictions: Labels, labels: Labels) -> Losses:
        """Return what the function says."""
        n = len(labels)
        try:
            with np.errstate(all="ignore"), catch_warnings(action="ignore"):
                found = np.asarray(self.apply(predictions, labels), np.float64)
        except Exception:  # noqa: BLE001 - whether it raises may depend on a label
            return np.ones(n)
        return _bounded(found) if found.shape == (n,) else np.ones(n)

    def apply(self, predictions: Labels, labels: Labels) -> Any:  # noqa: ANN401 - anything
        """Return what the function says of copies: what it writes into them is nobody's."""
        return self.function(predictions.values.copy(), labels.values.copy())

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Return predictions of any kind, such as probabilities of classes in two axes."""
        if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "biuf":
            return Labels(NUMBER, given.astype(np.float64))
        del labels
        return Labels.read(given, name)

    def facts(self) -> dict[str, Any]:
        """Refuse: a function cannot be kept in a file."""
        raise ParameterError(
            "loss",
            "be 'zero-one' or 'absolute' in a file",
            "a function",
            "Type GuardedHoldout(labels, loss=...) without a file, on a TranscriptLedger "
            "with a path.",
        )


def read_loss(loss: object, scale: Number | None, labels: Labels) -> Loss:
    """Return the loss that was asked for."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss == "absolute":
        if labels.kind != NUMBER:
            raise ParameterTypeError(
                "labels",
                "be numbers for an absolute loss",
                "texts",
                "Type {loss}.",
                loss="zero-one",
            )
        if scale is None:
            raise ParameterError(
                "scale",
                "be given for an absolute loss",
                "none",
                "Type the distance that counts as wholly wrong, such as {scale}.",
                scale=10,
            )
        return Absolute(scale)
    if scale is not None:
        raise ParameterError(
            "scale",
            "be left out unless the loss is absolute",
            "one",
            "Leave {scale} out.",
            scale=LEFT_OUT,
        )
    if isinstance(loss, str) and loss == "zero-one":
        return ZeroOne()
    if callable(loss):
        return _tried(Own(loss), labels)
    raise ParameterError(
        "loss",
        "be 'zero-one', 'absolute' or a function of predictions and labels",
        given(loss),
        "Type {loss}.",
        loss="zero-one",
    )


def loss_of(facts: dict[str, Any]) -> Loss:
    """Return the loss that a file names."""
    return Absolute(fraction(facts["scale"])) if facts["name"] == Absolute.name else ZeroOne()


def _tried(loss: Own, labels: Labels) -> Own:
    shape = np.shape(loss.apply(labels, labels))
    if shape != (len(labels),):
        raise ParameterError(
            "loss",
            f"return one value for each of {len(labels)} rows",
            f"the shape {shape}",
            "Type a function, such as lambda p, y: (p - y) ** 2.",
        )
    return loss


def _bounded(losses: Losses) -> Losses:
    return np.clip(np.where(np.isnan(losses), 1.0, losses), 0.0, 1.0)
