"""An interval that is the whole range says so, and names what shows how a file is read."""

from __future__ import annotations

import pytest

import sourdine as sd
from sourdine.questions import STATISTICS

BETWEEN = {"column": "x", "bounds": (0, 100), "step": 1}
ASKED = {
    "mean": {**BETWEEN},
    "variance": {**BETWEEN},
    "proportion": {"column": "x"},
    "cdf": {**BETWEEN},
    "median": {**BETWEEN},
    "quantile": {**BETWEEN, "q": 0.9},
    "quantiles": {**BETWEEN, "q": [0.1, 0.9]},
    "std": {**BETWEEN},
    **{
        name: {"x": "z", "y": "x", "bounds": {"x": (0, 2), "z": (0, 2)}}
        for name in ("covariance", "correlation")
    },
    "table": {"of": {"x": ["mean"]}, "bounds": {"x": (0, 100)}},
    "sql": {"statement": "SELECT AVG(x) FROM file", "bounds": {"x": (0, 100)}},
}
RANGELESS = {"count", "sum", "histogram", "mode", "regression"}
"""Their answers have no largest one, or no interval."""


@pytest.fixture
def files(tmp_path):
    words, numbers = tmp_path / "words.csv", tmp_path / "numbers.csv"
    words.write_text("x,z\n" + "male,1\nfemale,0\n" * 4000, encoding="utf-8")
    numbers.write_text("x,z\n" + "1,1\n0,0\n" * 4000, encoding="utf-8")
    return words, numbers


def remarks(release):
    return [text for word, text in release.notes() if word == "note" and "whole range" in text]


def test_every_statistic_is_asked():
    assert {*ASKED, *RANGELESS} == set(STATISTICS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_an_unreadable_column_of_text_says_so(name, files):
    """Most draws of no readable value have the whole range as interval; noise may shorten it."""
    words, numbers = files
    asked = {"epsilon": 1, **ASKED[name]}
    question = {"statistic": name, **asked}
    releases = [sd.ask(words, question) for _ in range(8)]
    told = [text for release in releases for text in remarks(release)]
    assert told
    assert all("larger epsilon" in text for text in told)
    assert all("sourdine inspect" in text for text in told)
    for release in releases:
        again = sd.Release.from_json(release.to_json())
        assert remarks(again) == remarks(release), "it follows from the release alone"
    assert not remarks(sd.ask(numbers, question))


def test_groups_say_it_once(files):
    asked = {**BETWEEN, "by": "x", "keys": [f"g{i}" for i in range(9)], "epsilon": 1}
    assert len(remarks(sd.mean(files[0], **asked))) == 1


@pytest.mark.slow
def test_categories_that_nobody_has(tmp_path):
    """Written in another encoding, a name is another category."""
    path = tmp_path / "regions.csv"
    path.write_text("region\n" + "Nord\nSüd\n" * 1000, encoding="cp1252")
    asked = {"column": "region", "categories": ["Nord", "Süd"], "epsilon": 1}
    asked["source"] = sd.noise.SeededSource(1)  # one draw in a hundred tells 0 from none
    (told,) = [
        text for _, text in sd.histogram(path, **asked).notes() if "almost no records" in text
    ]
    assert told.startswith("No or almost no records: Süd. ")
    assert "sourdine inspect" in told
    read = sd.histogram(path, **asked, read={"encoding": "cp1252"})
    assert not any("almost no records" in text for _, text in read.notes())
    found = sd.inspect(path)
    assert found.reading.encoding == "cp1252"
    assert "--encoding cp1252" in found.command
