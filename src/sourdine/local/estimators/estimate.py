"""What every estimate from reports is: public facts that explain a release."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.release import Drawer, Release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.grid import Grid
    from sourdine.privacy import Guarantee

__all__ = ["Estimate"]


class Estimate(Drawer):
    """What reports tell. It says what a reader must know, and keeps its value in what was drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of public facts."""

    def value(self, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the estimate: a number, or an array of them."""
        found = drawn["estimate"]
        return found if isinstance(found, float) else np.asarray(found)

    def release(
        self, cost: Guarantee, drawn: Mapping[str, Any], grid: Grid | None = None
    ) -> Release:
        """Return the release of what was drawn."""
        return Release(
            value=self.value(drawn),
            cost=cost,
            mechanism=self,
            caveats=self.caveats,
            drawn=drawn,
            grid=grid,
        )
