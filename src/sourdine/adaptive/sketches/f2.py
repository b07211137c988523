r"""A sketch of the second moment for streams that react to its answers."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise as samplers
from sourdine.adaptive.robust.proof import Proof
from sourdine.adaptive.sketches.ams import AmsSketch, F2Sketch
from sourdine.adaptive.sketches.f2_steps import HIGH, LOW, proved_looks, survived_answers
from sourdine.adaptive.sketches.signs import KEY_BITS
from sourdine.exact import at_least, integer, number
from sourdine.noise import SYSTEM
from sourdine.release import beta_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.adaptive.sketches.items import Item
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["AmsSketch", "F2Sketch", "RobustF2"]

TICKS = 1 << 24
"""The parts of the clip in which a row's square, clipped, is read."""

LOUDEST = Fraction(1, 8)
"""Above, more answers than 5 % may miss the declared error after a fall."""

STEEPEST = 4
"""So much the scale falls at once, at most: below, a reading is noise."""


class RobustF2:
    r"""The tug-of-war sketch, read through noise.

    A look at scale :math:`m` clips every row's square at :math:`cm`, takes the mean over rows and
    adds discrete Gaussian noise of deviation :math:`\sigma m`. The scale is the last answer, which
    is public; where the reading is not within 0.8 and 1.25 of it, the reading becomes the scale and
    the rows are looked at again. Noise blurs what an answer tells about any one row: that, not
    more rows or coarser answers, is what slows an attack down.

    Parameters
    ----------
    width
        How many counters, :math:`r`.
    noise
        :math:`\sigma`, relative to the answer; at most 1/8.
    clip
        :math:`c`: where a row is cut off, in multiples of the scale; at least 16.
    error, confidence
        `steps` and `certificate` speak of relative errors up to ``error`` under attack; the latter
        of all answers at once, with this confidence. `honest_error` is another thing.
    source
        Where the secret key and the noise come from.

    Notes
    -----
    *Claim*: on a stream that does not react, 95 % of the answers are within `honest_error` of the
    truth. *Checked by* ``test_honest_error_within_declared_accuracy``.

    *Survived*, not proved: after `steps` answers to the strongest attack known here, one is within
    ``error`` with probability 0.95; a plain sketch of the same memory is not. *Checked by*
    ``test_robust_sketch_survives_its_declared_steps``.

    *Proved*: `certificate()` looks, which is 0 by default.

    The clip by the last answer and the noise on a public lattice make a look zero-concentrated
    private in every row, whatever the stream: ``test_one_row_moves_a_look_by_the_clip_at_most``.

    References
    ----------
    .. [1] A. Hassidim, H. Kaplan, Y. Mansour, Y. Matias, U. Stemmer, "Adversarially robust
       streaming algorithms via differential privacy", NeurIPS 2020.

    Examples
    --------
    >>> sketch = RobustF2()
    >>> sketch.update_many(["a", "b"], [3000, 4000])
    >>> round(sketch.honest_error, 2), sketch.steps, sketch.certificate(), sketch.memory
    (0.15, 10743, 0, 160000)
    >>> 10_000_000 < sketch.query() < 40_000_000
    True
    >>> sketch.update_many(["a", "b"], [-3000, -4000])
    >>> sketch.query()
    0.0
    """

    __slots__ = (
        "_rows",
        "_scale",
        "_source",
        "_variance",
        "beta",
        "clip",
        "error",
        "looks",
        "noise",
    )

    def __init__(  # noqa: PLR0913 - two sizes, the rest keyword-only
        self,
        width: int = 20_000,
        noise: Number = 0.06,
        *,
        clip: Number = 20,
        error: Number = 0.25,
        confidence: Number = 0.95,
        source: Source = SYSTEM,
    ) -> None:
        self.noise = number(noise, "noise", above=0, most=LOUDEST)
        self.clip = at_least(clip, "clip", 16)
        self.error = number(error, "error", above=0, most=1)
        self.beta = beta_of(confidence)
        self._source = source
        self._rows = AmsSketch(
            integer(width, "width", least=1), int.from_bytes(source.bytes(KEY_BITS // 8), "little")
        )
        self._variance = (self.noise * self.width * TICKS / self.clip) ** 2
        self._scale = 1.0
        self.looks = 0

    @property
    def width(self) -> int:
        """How many counters there are."""
        return self._rows.width

    @property
    def memory(self) -> int:
        """The bytes of the counters."""
        return self._rows.memory

    @property
    def honest_error(self) -> float:
        r"""The relative error of 95 % of the answers on a stream that does not react.

        Two deviations of the noise at a scale that is 1.25 times too large, and of the rows.
        """
        return 2 * sqrt((float(self.noise) / LOW) ** 2 + 2 / self.width)

    @property
    def steps(self) -> int:
        """How many answers to an adversary survive within ``error``: no proof, see Notes."""
        return survived_answers(width=self.width, noise=float(self.noise), error=float(self.error))

    def certificate(self) -> int:
        """Return for how many looks all answers are proved right; 0 if the key can be foreseen."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        beta, error = float(self.beta), float(self.error)
        if not self._source.private:
            return Proof(0, beta, "the key can be foreseen; leave source out")
        looks = proved_looks(
            width=self.width, noise=float(self.noise), clip=float(self.clip),
            error=error, beta=beta,
        )  # fmt: skip
        if not looks:
            few = f"the width {self.width} is too small for the noise; see width_to_prove"
            return Proof(0, beta, few)
        return Proof(
            looks,
            beta,
            f"privacy of the rows, all answers within {error:g}; a step is a look, and an "
            "answer takes one where the second moment stands, a few where it leaps",
        )

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight, which may be negative, to an item."""
        self._rows.update(item, weight)

    def update_many(self, items: Iterable[Item], weights: Iterable[int] | int = 1) -> None:
        """Add weights, one for each item or one for all, to many items."""
        self._rows.update_many(items, weights)

    def query(self) -> float:
        """Return a noisy estimate."""
        while True:
            m = self._scale
            a = self._look(m)
            if m == 1 and a <= HIGH:
                return float(round(max(a, 0.0)))
            self._scale = max(a, m / STEEPEST, 1.0)
            if LOW * m <= a <= HIGH * m:
                return a

    def _look(self, scale: float) -> float:
        self.looks += 1
        ticks = self._ticks(scale) + samplers.discrete_gaussian(self._variance, source=self._source)
        return ticks * (float(self.clip) * scale / (self.width * TICKS))

    def _ticks(self, scale: float) -> int:
        """Return the sum over rows, each between 0 and `TICKS` whatever the data."""
        share = self._rows.counters()
        np.square(share, out=share)
        share *= TICKS / (float(self.clip) * scale)
        np.minimum(share, TICKS, out=share)
        return int(np.rint(share, out=share).sum())

    def __repr__(self) -> str:
        terms = f"width={self.width}, noise={float(self.noise):g}, clip={float(self.clip):g}"
        looked = f"{self.looks} looks; survived {self.steps}, proved {self.certificate()}"
        return f"RobustF2({terms}): {looked}"
