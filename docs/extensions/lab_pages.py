"""The pages of the lab: a gallery of experiments, a page a document, tables of all claims.

Nothing is computed when the manual is built: figures stand in ``lab/figures``, verdicts in
``lab/claims.json``. The code behind each is shown on a page of its own.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citations import CITATIONS
from docutils import nodes
from sources import HOME, code_page, page_of
from sphinx.util.docutils import SphinxDirective

import sourdine_lab
from sourdine_lab.concordance import asides, entries
from sourdine_lab.experiment import said
from sourdine_lab.page import DOCUMENTS, document
from sourdine_lab.registry import all_experiments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citations import Citation
    from sphinx.application import Sphinx

    from sourdine_lab.concordance import Entry
    from sourdine_lab.experiment import Experiment

SOURCE = Path(sourdine_lab.__file__).parent


class LabDirective(SphinxDirective):
    """What the directives share: figures, links to code, claims."""

    def figure(self, experiment: Experiment, target: str = "") -> nodes.Element:
        """Return the picture of an experiment, or a line where it has not been drawn."""
        path = Path(self.env.srcdir, "lab", "figures", f"{experiment.name}.png")
        self.env.note_dependency(str(path))
        if not path.exists():
            return nodes.paragraph("", "Not drawn yet.", classes=["undrawn"])
        image = nodes.image(uri=f"/lab/figures/{path.name}", alt=experiment.title)
        return nodes.reference("", "", image, refuri=target, internal=True) if target else image

    def claims(self) -> list[dict[str, Any]]:
        """Return the judged claims."""
        path = Path(self.env.srcdir, "lab", "claims.json")
        self.env.note_dependency(str(path))
        return list(json.loads(path.read_text("utf-8"))) if path.exists() else []

    def claims_of(self, citation: Citation) -> list[dict[str, Any]]:
        """Return the judged claims of a document."""
        return [claim for claim in self.claims() if claim["id"].startswith(citation.letter)]


class Documents(LabDirective):
    """Which letter stands for which document, cited in full, with links to figures and claims."""

    def run(self) -> list[nodes.Node]:
        """Return a list, a document an item."""
        items = [nodes.list_item("", *self.item(citation)) for citation in CITATIONS]
        return [nodes.bullet_list("", *items, classes=["documents"])]

    def item(self, citation: Citation) -> Iterator[nodes.Node]:
        """Yield letter and citation, and a line of links."""
        told = [nodes.strong("", citation.letter), nodes.Text(f" ({citation.word}): ")]
        yield nodes.paragraph("", "", *told, *citation.cited())
        claims = _link(f"claims.html#{_heading(citation)}", _counted(self.claims_of(citation)))
        figures = _link(f"{citation.key}.html", "figures")
        yield nodes.paragraph("", "", figures, nodes.Text("; "), claims, classes=["small"])


class Gallery(LabDirective):
    """A small picture of every experiment, document by document."""

    def run(self) -> list[nodes.Node]:
        """Return the grid."""
        made: list[nodes.Node] = []
        for key, title in DOCUMENTS.items():
            these = [e for e in all_experiments().values() if document(e) == key]
            if these:
                made.append(nodes.rubric("", "", _link(f"{key}.html", title)))
                cards = [self.card(key, experiment) for experiment in these]
                made.append(nodes.container("", *cards, classes=["gallery"]))
        return made

    def card(self, key: str, experiment: Experiment) -> nodes.Node:
        """Return a picture and a title that lead to the experiment."""
        target = f"{key}.html#{experiment.name}"
        title = nodes.paragraph("", "", _link(target, experiment.title))
        return nodes.container("", self.figure(experiment, target), title, classes=["card"])


class Experiments(LabDirective):
    """All experiments of one document."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the citation and a section an experiment."""
        key = self.arguments[0]
        sections = [self.section(e) for e in all_experiments().values() if document(e) == key]
        return [*(self.cited(c) for c in CITATIONS if c.key == key), *sections]

    def cited(self, citation: Citation) -> nodes.paragraph:
        """Return the document, and where its rows are."""
        rows = _link(f"claims.html#{_heading(citation)}", f"rows {citation.letter}")
        ends = (nodes.Text(" Its claims are the "), rows, nodes.Text("."))
        return nodes.paragraph("", "", *citation.cited(), *ends)

    def section(self, experiment: Experiment) -> nodes.section:
        """Return question, picture, what the document states, rows and code."""
        section = nodes.section(ids=[experiment.name], names=[experiment.name])
        section += nodes.title("", experiment.title)
        section += nodes.paragraph("", experiment.question)
        section += self.figure(experiment)
        section += _pairs(
            ("The document", [nodes.Text(f"{experiment.stated}.")]),
            ("Rows", list(_rows(experiment, {claim["id"] for claim in self.claims()}))),
            ("Draw it", [nodes.literal("", f"sourdine lab run {experiment.name}")]),
            ("Settings", list(_settings(experiment))),
            ("Code", [_code(_module(experiment))]),
        )
        return section


class Claims(LabDirective):
    """All claims with their verdicts and what decides, document by document."""

    def run(self) -> list[nodes.Node]:
        """Return a line that counts, a list of the documents, and a section for each."""
        said = nodes.paragraph("", f"{_counted(self.claims())}.")
        items = [nodes.list_item("", self.entry(citation)) for citation in CITATIONS]
        return [said, nodes.bullet_list("", *items), *map(self.section, CITATIONS)]

    def entry(self, citation: Citation) -> nodes.paragraph:
        """Return the letter and the name of a document, and how its claims fared."""
        title = f"{citation.letter} ({citation.word}): {citation.short}"
        counts = nodes.Text(f". {_counted(self.claims_of(citation))}.")
        return nodes.paragraph("", "", _link(f"#{_heading(citation)}", title), counts)

    def section(self, citation: Citation) -> nodes.section:
        """Return the citation, how its claims fared, and the table of them."""
        claims, name = self.claims_of(citation), _heading(citation)
        stands = f" {citation.letter} stands for {citation.word}. {_counted(claims)}."
        section = nodes.section(ids=[name], names=[name])
        section += nodes.title("", f"{citation.letter}: {citation.short}")
        section += nodes.paragraph("", "", *citation.cited(), nodes.Text(stands))
        heads = ("row", "verdict", "the document", "what decides")
        section += _table(heads, (6, 10, 32, 52), [_claim(claim) for claim in claims])
        return section


class Concordance(LabDirective):
    """All statements, figures and algorithms of one document, in its order."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table, and what of the document is no statement."""
        document = self.arguments[0]
        judged = {claim["id"]: claim["verdict"] for claim in self.claims()}
        heads = ("section", "what the document says", "in Python", "figures and verdicts")
        rows = [self.row(entry, judged) for entry in entries(document)]
        made: list[nodes.Node] = [_table(heads, (9, 41, 30, 20), rows)]
        if left := asides(document):
            items = [
                nodes.list_item("", nodes.paragraph("", f"{one.label}: {one.reason}"))
                for one in left
            ]
            made += [
                nodes.rubric("", "Not statements"),
                nodes.bullet_list("", *items, classes=["small"]),
            ]
        return made

    def row(self, entry: Entry, judged: dict[str, str]) -> nodes.row:
        """Return place, statement, functions, and links to figures and claims."""
        also = nodes.paragraph("", ", ".join(entry.also), classes=["small"])
        calls = [
            nodes.paragraph("", f"{title}: ", *_literals(paths))
            for title, paths in (("printed", entry.printed), ("corrected", entry.corrected))
            if paths
        ]
        used = [nodes.paragraph("", "", nodes.literal("", entry.use))] if entry.use else []
        links: list[nodes.Node] = [
            _link(f"../{name.partition('-')[0]}.html#{name}", name) for name in entry.figures
        ]
        links += [
            _link(f"../claims.html#{_anchor(row)}", f"{row} {judged.get(row, '')}".strip())
            for row in entry.claims
        ]
        shown: list[nodes.Node] = []
        for link in links:
            shown += [nodes.Text(", "), link] if shown else [link]
        said = nodes.paragraph(
            "", "", nodes.strong("", entry.name), nodes.Text(f": {entry.statement}")
        )
        cells = (
            [nodes.paragraph("", entry.place)],
            [said, *([also] if entry.also else [])],
            [*calls, *used],
            [nodes.paragraph("", "", *shown)] if shown else [],
        )
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


def _literals(paths: tuple[str, ...]) -> list[nodes.Node]:
    made: list[nodes.Node] = []
    for path in paths:
        made += [nodes.Text(", ")] if made else []
        made.append(nodes.literal("", path))
    return made


def _heading(citation: Citation) -> str:
    return f"rows-{citation.letter.lower()}"


def _counted(claims: list[dict[str, Any]]) -> str:
    counts = Counter(claim["verdict"] for claim in claims)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts))
    return f"{len(claims)} claims: {words}" if claims else "No claim has been judged yet"


def _claim(claim: dict[str, Any]) -> nodes.row:
    name, verdict = claim["id"], claim["verdict"]
    path, _, line = claim["where"].removeprefix(HOME).partition(":")
    cells = (
        [nodes.paragraph("", "", nodes.inline("", name, ids=[_anchor(name)]))],
        [nodes.paragraph("", "", nodes.inline("", verdict, classes=[verdict]))],
        [nodes.paragraph("", claim["statement"]), *_quoted(claim["quote"])],
        [
            nodes.paragraph("", claim["words"]),
            nodes.paragraph("", "", _code(path, line), classes=["small"]),
        ],
    )
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


def _quoted(quote: str) -> list[nodes.paragraph]:
    return [nodes.paragraph("", f"« {quote} »", classes=["small"])] if quote else []


def _table(heads: tuple[str, ...], widths: tuple[int, ...], rows: list[nodes.row]) -> nodes.table:
    columns = [nodes.colspec(colwidth=width) for width in widths]
    head = nodes.row("", *(nodes.entry("", nodes.paragraph("", word)) for word in heads))
    group = nodes.tgroup(
        "", *columns, nodes.thead("", head), nodes.tbody("", *rows), cols=len(heads)
    )
    return nodes.table("", group, classes=["claims", "colwidths-given"])


def _pairs(*pairs: tuple[str, list[nodes.Node]]) -> nodes.field_list:
    bodies = ((name, nodes.paragraph("", "", *body)) for name, body in pairs)
    fields = [
        nodes.field("", nodes.field_name("", name), nodes.field_body("", body))
        for name, body in bodies
    ]
    return nodes.field_list("", *fields, classes=["facts"])


def _rows(experiment: Experiment, judged: set[str]) -> Iterator[nodes.Node]:
    for i, row in enumerate(experiment.ids):
        if i:
            yield nodes.Text(", ")
        yield _link(f"claims.html#{_anchor(row)}", row) if row in judged else nodes.Text(row)


def _settings(experiment: Experiment) -> Iterator[nodes.Node]:
    """Yield each setting with its default and its meaning."""
    for i, one in enumerate(experiment.settings):
        if i:
            yield nodes.Text("; ")
        yield nodes.literal("", said({one.name: one.default}))
        yield nodes.Text(f" {one.meaning}")


def _anchor(row: str) -> str:
    return f"claim-{row.lower()}"


def _link(target: str, text: str) -> nodes.reference:
    return nodes.reference("", text, refuri=target, internal=True)


def _code(path: str, line: str = "") -> nodes.reference:
    target = f"code/{path.removesuffix('.py')}.html" + (f"#line-{line}" if line else "")
    shown = Path(path).name + (f":{line}" if line else "")
    return nodes.reference("", "", nodes.literal("", shown), refuri=target, internal=True)


def _module(experiment: Experiment) -> str:
    file = Path(inspect.getfile(experiment.compute))
    return file.relative_to(SOURCE).as_posix()


def _code_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the source of every experiment and of every claim as a page."""
    folders = (SOURCE / "experiments", SOURCE / "claims")
    for file in sorted(f for folder in folders for f in folder.rglob("*.py")):
        path = file.relative_to(SOURCE).as_posix()
        yield code_page(app, file, page_of(f"{HOME}{path}"), f"{HOME}{path}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer ``gallery``, ``documents``, ``experiments``, ``claims`` and ``concordance``."""
    app.add_directive("documents", Documents)
    app.add_directive("gallery", Gallery)
    app.add_directive("experiments", Experiments)
    app.add_directive("claims", Claims)
    app.add_directive("concordance", Concordance)
    app.connect("html-collect-pages", _code_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
