"""The concordance: all labels of the documents are in it, and what it names is there."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from source_labels import extracted, read, text_of
from sourdine.errors import ParameterError
from sourdine_lab.claims.verdicts import all_claims
from sourdine_lab.concordance import DOCUMENTS, asides, entries, found, plain
from sourdine_lab.registry import all_experiments

ENTRIES = [entry for document in DOCUMENTS for entry in entries(document)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_label_of_the_text_is_in_the_concordance_or_set_aside_with_a_reason(document):
    known = {plain(label) for entry in entries(document) for label in (*entry.labels, entry.place)}
    aside = {plain(one.label): one.reason for one in asides(document)}
    assert all(len(reason) > 10 for reason in aside.values())
    labels = {plain(label): label for label in read(document)["labels"]}
    missing = [label for key, label in labels.items() if key not in known and key not in aside]
    assert missing == []
    assert not known & set(aside), "either a statement or not"
    assert set(aside) <= set(labels), "set aside, but no label of the text"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_labels_are_those_of_the_text(document):
    """Only where the texts are: they are not distributed."""
    folder = os.environ.get("SOURDINE_SOURCES")
    if not folder:
        pytest.skip("SOURDINE_SOURCES does not name a folder of the documents' texts")
    text = text_of(document, Path(folder))
    assert text is not None
    assert extracted(text, read(document)["patterns"]) == read(document)["labels"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_and_every_figure_of_a_document_is_in_its_concordance(document):
    letter = dict(zip(DOCUMENTS, "CALWS", strict=True))[document]
    here = {row for entry in entries(document) for row in entry.claims}
    assert {row for row in all_claims() if row.startswith(letter)} == here
    figures = {name for entry in entries(document) for name in entry.figures}
    own = {name for name in all_experiments() if name.startswith(document)}
    assert own <= figures
    assert figures <= set(all_experiments())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: f"{e.document} {e.place} {e.name}")
def test_what_an_entry_names_is_there(entry):
    for path in (*entry.printed, *entry.corrected):
        module, _, name = path.rpartition(".")
        try:
            assert hasattr(import_module(module), name), path
        except ModuleNotFoundError:  # a method of a class
            module, _, owner = module.rpartition(".")
            assert hasattr(getattr(import_module(module), owner), name), path
    assert entry.statement
    assert not entry.statement.endswith(".")
    assert entry in found(entry.name)
    for label in entry.also:
        assert entry in found(label)


def test_what_nobody_wrote_is_refused_with_a_hint():
    with pytest.raises(ParameterError, match="Did you mean 'RecExp'"):
        found("RecExpp")
    with pytest.raises(ParameterError, match="sourdine lab where canesse"):
        found("§§")
