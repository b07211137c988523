"""What the columns of a file look like to its curator."""

from __future__ import annotations

import pytest

from sourdine.curator import column_types
from sourdine.frames.frame import Frame


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("a,b\n1,x\n2,y\n", {"a": "number", "b": "text"}),
        ("a,b\n1\n1,x,3\n4,y\n\n", {"a": "number", "b": "text"}),  # ragged
        ("a,b\n2020-01-01,\n2020-01-02,\n", {"a": "date", "b": None}),
        ("a,b\n", {"a": None, "b": None}),
    ],
)
def test_any_text_file_has_types(tmp_path, text, types):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    assert column_types(Frame(path), str(path)) == types
