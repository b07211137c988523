"""Losses of predictions, and evidence that a new one is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings

import numpy as np

from sourdine.adaptive.holdout.labels import NUMBER, Labels, same
from sourdine.adaptive.ledger.dependence import Blocks, Iid
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.exact import Number

    Losses = NDArray[np.float64]


# ---- How wrong a prediction is: a value from 0 to 1 for each row ---------------------------------


class Loss(ABC):
    """A loss of one row, between 0 and 1; a row whose label is missing loses 1 whatever is said."""

    name: ClassVar[str]

    @abstractmethod
    def of(self, predictions: Labels, labels: Labels) -> Losses:
        """Return the loss of each row."""

    def levels(self, n: int) -> int:
        """Return how many values the exact average over n rows can have, as a float."""
        return 1 << 62

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Return predictions, or say what is wrong with them; nothing said depends on a label."""
        column = Labels.read(given, name, labels.kind)
        if column.kind != labels.kind:
            must = f"be {labels.kind}s, like the labels"
            hint = "Convert them first: 1 and '1' are different labels."
            raise ParameterTypeError(name, must, f"{column.kind}s", hint)
        return column

    def fractional(self, labels: Labels) -> bool:
        """Return whether predictions may be fractions for all that is told of the labels."""
        return labels.fractional

    def facts(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class ZeroOne(Loss):
    """1 where the prediction is not the label, else 0: the average is one minus the accuracy.

    Parameters
    ----------
    classes
        What predictions may be, from public knowledge; None if that is not known.
    """

    classes: tuple[Any, ...] | None = None
    name: ClassVar[str] = "zero-one"

    def of(self, predictions: Labels, labels: Labels) -> Losses:
        return 1.0 - same(labels, predictions).astype(np.float64)

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Refuse what is no class; without classes, fractions where all labels are whole.

        Such fractions are probabilities, right nowhere. Which values occur among the labels is
        private: without classes any other value is a mistake, and charged; with them a fraction
        that is a class is answered whether or not it occurs.
        """
        column = Loss.read(self, given, name, labels)
        if self.classes is not None:
            known = set(self.classes)
            row = next((i for i, v in enumerate(column.values.tolist()) if v not in known), None)
            if row is not None:
                must, got = "hold only the classes of the guard", f"another value in row {row + 1}"
                listed = ", ".join(map(repr, self.classes[:SHOWN]))
                more = ", ..." if len(self.classes) > SHOWN else ""
                hint = f"The classes are {listed}{more}. Nothing was charged."
                raise ParameterError(name, must, got, hint)
        elif column.fractional and not self.fractional(labels):
            hint = "Use (p > 0.5).astype(int) if p are probabilities."
            raise ParameterError(name, "be labels, such as 0 or 1", "fractions", hint)
        return column

    def levels(self, n: int) -> int:
        """Return n + 1: no mistake up to n of them."""
        return n + 1

    def fractional(self, labels: Labels) -> bool:
        """Return whether a class is a fraction; without classes, whether a label is."""
        if self.classes is None:
            return labels.fractional
        return any(isinstance(one, float) and not one.is_integer() for one in self.classes)

    def facts(self) -> dict[str, Any]:
        named = {"name": self.name}
        return named if self.classes is None else {**named, "classes": list(self.classes)}


@dataclass(frozen=True, slots=True)
class Absolute(Loss):
    r"""The distance in units of a public scale, 1 at most: :math:`\min(1, |\hat y - y| / s)`."""

    scale: Number
    name: ClassVar[str] = "absolute"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def of(self, predictions: Labels, labels: Labels) -> Losses:
        with np.errstate(over="ignore", invalid="ignore"):
            far = np.abs(predictions.values.astype(np.float64) - labels.values.astype(np.float64))
            return _bounded(far / float(self.scale))

    def facts(self) -> dict[str, Any]:
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
        n = len(labels)
        try:
            with np.errstate(all="ignore"), catch_warnings(action="ignore"):
                found = np.asarray(self.apply(predictions, labels), np.float64)
        except Exception:  # noqa: BLE001 - whether it raises may depend on a label
            return np.ones(n)
        return _bounded(found) if found.shape == (n,) else np.ones(n)

    def apply(self, predictions: Labels, labels: Labels) -> Any:
        """Return what the function says of copies: what it writes into them is nobody's."""
        return self.function(predictions.values.copy(), labels.values.copy())

    def read(self, given: object, name: str, labels: Labels) -> Labels:
        """Return predictions of any kind, such as probabilities of classes in two axes."""
        if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "biuf":
            return Labels(NUMBER, given.astype(np.float64))
        return Labels.read(given, name)

    def facts(self) -> dict[str, Any]:
        """Refuse: a function cannot be kept in a file."""
        hint = (
            "Use GuardedHoldout(labels, loss=...) without a file, on a TranscriptLedger with a "
            "path."
        )
        raise ParameterError("loss", "be 'zero-one' or 'absolute' in a file", "a function", hint)


SHOWN = 5
"""How many classes an error names."""


def read_classes(classes: object, labels: Labels) -> tuple[Any, ...]:
    """Return the classes, of the kind of the labels; whether these are among them is private."""
    example = [0, 1] if labels.kind == NUMBER else ["yes", "no"]
    hint = "Use {classes} from public knowledge."
    if not isinstance(classes, (list, tuple)) or len(classes) < 2:
        must = "list at least two classes"
        raise ParameterError("classes", must, given(classes), hint, classes=example)
    if labels.kind == NUMBER and all(isinstance(one, str) for one in classes):
        found = Labels.written(classes, "classes", NUMBER)
    else:
        found = Labels.read(list(classes), "classes")
    values = tuple(found.values.tolist())
    if found.kind != labels.kind or not found.complete or len(set(values)) < len(values):
        must = f"be distinct {labels.kind}s, like the labels"
        raise ParameterError("classes", must, given(classes), hint, classes=example)
    return values


def read_loss(loss: object, scale: Number | None, labels: Labels, classes: object = None) -> Loss:
    """Return the loss that was asked for."""
    named = loss if isinstance(loss, str) else None

    def only_for(one: str, name: str) -> ParameterError:
        must = f"be omitted unless the loss is {one!r}"
        return ParameterError(name, must, "", f"Omit {{{name}}}.", **{name: LEFT_OUT})

    if classes is not None and named != "zero-one":
        raise only_for("zero-one", "classes")
    if isinstance(loss, Loss):
        return loss
    if scale is not None and named != "absolute":
        raise only_for("absolute", "scale")
    if named == "absolute":
        if labels.kind != NUMBER:
            must = "be numbers for the loss 'absolute'"
            raise ParameterTypeError("labels", must, "strings", "Use {loss}.", loss="zero-one")
        if scale is None:
            must = "be given for the loss 'absolute'"
            hint = "Pass the distance that counts as entirely wrong, such as {scale}."
            raise ParameterError("scale", must, "", hint, scale=10)
        return Absolute(scale)
    if named == "zero-one":
        return ZeroOne(None if classes is None else read_classes(classes, labels))
    if not callable(loss):
        must = "be 'zero-one', 'absolute' or a function of predictions and labels"
        raise ParameterError("loss", must, given(loss), "Use {loss}.", loss="zero-one")
    return _tried(Own(loss), labels)


def _tried(loss: Own, labels: Labels) -> Own:
    shape = np.shape(loss.apply(labels, labels))
    if shape != (len(labels),):
        must = f"return one value for each of {len(labels)} rows"
        hint = "Pass a function, such as lambda p, y: (p - y) ** 2."
        raise ParameterError("loss", must, f"an array of shape {shape}", hint)
    return loss


def loss_of(facts: dict[str, Any]) -> Loss:
    """Return the loss that a file names."""
    if facts["name"] == Absolute.name:
        return Absolute(fraction(facts["scale"]))
    classes = facts.get("classes")
    return ZeroOne(None if classes is None else tuple(classes))


def _bounded(losses: Losses) -> Losses:
    return np.clip(np.where(np.isnan(losses), 1.0, losses), 0.0, 1.0)


# ---- Is the new one better? Differences of losses, row by row, and what they prove ---------------
#
# Write :math:`d_i \in [-1, 1]` for what the old predictions lose on row :math:`i` more than the new
# ones, :math:`D` for its average over the sample. The *rule of thumb* asks that :math:`D` be above
# a number of standard errors. The *proof* asks for evidence against "the new one is no better".
#
# *Claim*. Let the rows come in independent blocks of at most :math:`m` rows (:math:`m = 1`:
# independent rows), and let the expectation of :math:`D` be 0 or less. For fixed
# :math:`\lambda_1, \dots, \lambda_K \in [0, 1]`,
#
# .. math:: E = \frac1K \sum_k \prod_i (1 + \lambda_k d_i)^{1/m}
#
# has expectation 1 at most, so :math:`\Pr[E \ge e^t] \le e^{-t}` by Markov's inequality.
#
# *Proof*. For one :math:`\lambda` and one block, with ones for the rows that it lacks, the
# geometric mean of :math:`m` factors is at most their arithmetic mean :math:`1 + x_b`, where
# :math:`x_b = \frac{\lambda}{m} \sum_{i \in b} d_i`. Blocks are independent, so the expectation of
# the product is at most :math:`\prod_b (1 + E x_b) \le e^{\sum_b E x_b} \le 1`. Average over
# :math:`k`. *Checked by* ``test_evidence_against_no_progress_is_rare``.
#
# :math:`E` is what a gambler has who stakes a share :math:`\lambda` of the purse on every row at
# fair odds [1]_; a sum over many :math:`\lambda` finds the best one at the cost of :math:`\ln K`.
# For mistakes it is a sign test on the rows where the two differ, so small changes are seen that
# Hoeffding's bound on all rows would miss.
#
# References
# ----------
# .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
#    Journal of the Royal Statistical Society B 86(1), 2024.


STAKES = 0.5 ** (np.arange(1, 25) / 2)


def stands_out(d: NDArray[np.float64], margin: float, dependence: Dependence, nats: float) -> bool:
    """Return whether the average is above 0 and above ``margin`` of its standard errors.

    The standard error is that of independent rows, widened as the declared dependence widens
    Hoeffding's bound.
    """
    n = len(d)
    wider = dependence.width(n, nats) / Iid().width(n, nats)
    error = float(d.std()) / sqrt(n) * max(wider, 1.0)
    return bool(d.mean() > max(margin * error, 0.0))


def log_evidence(d: NDArray[np.float64], block: int = 1) -> float:
    r"""Return :math:`\ln E`, the evidence that the expectation of the average is above 0."""
    logs = np.array([np.log1p(stake * d).sum() for stake in STAKES]) / block
    most = logs.max()
    return float(most + log(np.exp(logs - most).mean()))


def proves_progress(d: NDArray[np.float64], dependence: Dependence, nats: float) -> bool:
    """Return whether the expected average is above 0, but for a chance of exp(-nats).

    By evidence for independent rows or blocks; else by the declared concentration of averages.
    """
    if isinstance(dependence, (Iid, Blocks)):
        return log_evidence(d, dependence.size) >= nats
    lower, _ = dependence.interval((float(d.mean()) + 1) / 2, len(d), nats)
    return lower > 0.5
