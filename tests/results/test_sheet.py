"""A table with notes: the one layout, as text and as HTML."""

from __future__ import annotations

import pytest

from sourdine.results.tables import Displayable, Sheet

TABLE = Sheet(
    heads=("key", "count"),
    lines=[("yes", "12"), ("no", "7")],
    notes=[("cost", "epsilon 1"), ("by", "a < b")],
    title="Votes",
)


def test_names_stand_left_and_numbers_right():
    assert TABLE.text().splitlines() == [
        "Votes",
        "key  count",
        "yes     12",
        "no       7",
        "cost  epsilon 1",
        "by    a < b",
    ]


def test_html_is_escaped_and_whole():
    html = TABLE.html()
    assert "<h4>Votes</h4>" in html
    assert html.count("<tr>") == 3
    assert "a &lt; b" in html
    assert "a < b" not in html
    assert "<script" not in Sheet(heads=["x"], lines=[["<script>"]]).html()


def test_parts_of_a_table_have_heads_of_their_own():
    html = Sheet(heads=["", "a"], lines=[["n", "1"], ["", ""], ["", "b"], ["n", "2"]]).html()
    assert html.count("<tr>") == 4
    assert html.count("<tbody") == 2
    assert "<tr><th></th><th>b</th></tr><tr><td>n</td><td>2</td></tr>" in html


def test_notes_stand_below_a_table_however_narrow_it_is():
    html = TABLE.html()
    assert html.index("cost: epsilon 1") > html.index("</table>")


def test_notes_alone_are_a_table_of_facts():
    facts = Sheet(notes=[("spent", "3"), ("left", "1")])
    assert facts.text() == "spent  3\nleft   1"
    assert facts.html() == (
        "<table><tr><th>spent</th><td>3</td></tr><tr><th>left</th><td>1</td></tr></table>"
    )


def test_long_notes_are_wrapped_below_their_word():
    lines = (
        Sheet(heads=["x"], lines=[["1"]], notes=[("note", "word " * 60)]).text().splitlines()[2:]
    )
    assert len(lines) > 2
    assert all(len(line) <= 80 for line in lines)
    assert all(line.startswith("      ") for line in lines[1:])


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="argument 2 is"):
        Sheet(heads=("a", "b"), lines=[("1",)]).text()


def test_what_is_shown_prints_as_its_sheet():
    class Votes(Displayable):
        def sheet(self):
            return TABLE

    assert str(Votes()) == TABLE.text()
    assert Votes()._repr_html_() == TABLE.html()
