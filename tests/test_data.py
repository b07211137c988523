"""The public data are those of the README beside them."""

from __future__ import annotations

import numpy as np

from sourdine.data import wages


def test_wages_are_whole_dollars():
    found = wages()
    assert found.dtype == np.int64
    assert (len(found), found.min(), found.max()) == (247_696, 1, 1_456_112)
    assert found.sum() == 11_416_309_935
    assert found[:3].tolist() == [20_075, 41_063, 36_501]
