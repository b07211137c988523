"""One page with figures and claims, that needs no network."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sourdine import __version__
from sourdine_lab.claims.verdicts import counted
from sourdine_lab.experiment import said
from sourdine_lab.settings import written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sourdine_lab.claims.claim import Judged
    from sourdine_lab.experiment import Experiment, Settings

__all__ = ["DOCUMENTS", "ShownFigure", "document", "page"]

LARGEST = 250_000
"""A drawing of more bytes is put into the page as an image of points."""
DOCUMENTS = {
    "canesse": "Canesse 2022: private quantiles",
    "audibert": "Audibert 2024: means, quantiles, lower bounds",
    "couchot": "Couchot 2023: local privacy of a table",
    "dubois": "Dubois, Butucea, Kroll and Saumard 2019: densities by wavelets",
    "stemmer": "Stemmer's lecture 9: adaptive inputs",
    "today": "What the documents lack: today's methods on the same axes",
}
"""The first word of an experiment's name, and what it stands for."""

STYLE = """
:root{--ink:#1f2933;--soft:#52606d;--rule:#e4e7eb;--wash:#f5f7fa}
:root{--good:#00725a;--mend:#0072b2;--bad:#b34700}
*{box-sizing:border-box}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);max-width:62rem;margin:0 auto}
body{padding:2rem 1rem 6rem} h1,h2,h3{line-height:1.25;text-wrap:balance}
h2{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--rule)}
a{color:var(--mend)} nav ul{list-style:none;padding:0;columns:2;column-gap:2rem}
nav li{break-inside:avoid} figure{margin:1rem 0} figure img{width:100%;max-width:52rem}
figcaption,.small{color:var(--soft);font-size:.875rem}
.wide{overflow-x:auto} table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;padding:.45rem .8rem .45rem 0;border-bottom:1px solid var(--rule)}
td{vertical-align:top} thead th{position:sticky;top:0;background:#fff}
td:first-child,td:nth-child(2){white-space:nowrap} td:nth-child(3){width:34%}
.confirmed{color:var(--good)}.corrected,.misprint,.observed{color:var(--mend)}.refuted,.undecided{color:var(--bad)}
code,pre{font-size:.8125rem} pre{background:var(--wash);padding:.8rem;overflow-x:auto}
summary{cursor:pointer;color:var(--soft);font-size:.875rem}
@media print{details{display:none}}
@media (max-width:40rem){nav ul{columns:1} table,tbody,tr,td{display:block} thead{display:none}
td{border:0;padding:.1rem 0} tr{border-bottom:1px solid var(--rule);padding:.6rem 0}}
"""


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """An experiment, its figure and the settings that it was drawn with."""

    experiment: Experiment
    figure: Any
    settings: Settings

    def save(self, folder: Path) -> None:
        """Write the figure as PNG and SVG."""
        for ending in ("png", "svg"):
            (folder / f"{self.experiment.name}.{ending}").write_bytes(self.drawn(ending))

    def drawn(self, ending: str) -> bytes:
        """Return the figure as the bytes of a file; the same figure gives the same bytes."""
        from matplotlib import rc_context

        file = BytesIO()
        facts = {"Date": None} if ending == "svg" else {"Software": None}
        with rc_context({"svg.hashsalt": self.experiment.name}):
            self.figure.savefig(file, format=ending, metadata=facts)
        return file.getvalue() if ending == "svg" else _few_colours(file)

    def picture(self) -> str:
        """Return the figure as a piece of a page."""
        kind, data = "svg+xml", self.drawn("svg")
        if len(data) > LARGEST:
            kind, data = "png", self.drawn("png")
        code = b64encode(data).decode()
        return f'<img alt="{escape(self.experiment.title)}" src="data:image/{kind};base64,{code}">'


def _few_colours(file: BytesIO) -> bytes:
    """Return a PNG of 256 colours, a third as large; a drawing of lines has no more."""
    from PIL import Image

    small = BytesIO()
    Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        small, format="png", optimize=True
    )
    return small.getvalue()


def document(experiment: Experiment) -> str:
    """Return the key in `DOCUMENTS` of an experiment."""
    return experiment.name.partition("-")[0]


def page(shown: Iterable[ShownFigure], judged: Iterable[Judged], *, quick: bool, seed: int) -> str:
    """Return the whole page."""
    figures, claims = list(shown), list(judged)
    rows = {one.claim.id for one in claims}
    tally = counted(claims)
    made = f"sourdine {__version__}, {'quick' if quick else 'full'} run, seed {seed}"
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sourdine: the lab</title><style>{STYLE}</style>
<h1>The lab</h1>
<p>Figures of five documents on differential privacy, redrawn beside what the document states
({len(figures)} here), and their claims, judged by what is computed ({tally}).</p>
<p class="small">Rows: C Canesse 2022, A Audibert 2024, L Couchot 2023, W Dubois, Butucea, Kroll and
Saumard 2019, S Stemmer's lecture 9. {escape(made)}.</p>
<nav><ul>{'<li><a href="#claims">Claims</a></li>' if claims else ""}
{"".join(_link(one) for one in figures)}</ul></nav>
{_claims(claims)}{"".join(_section(key, figures, rows) for key in DOCUMENTS)}
</html>
"""


def _link(one: ShownFigure) -> str:
    experiment = one.experiment
    return (
        f'<li><a href="#{experiment.name}">{escape(experiment.title)}</a> '
        f'<span class="small">{escape(experiment.name)}</span></li>\n'
    )


def _section(key: str, figures: list[ShownFigure], judged: set[str]) -> str:
    pieces = "".join(_figure(one, judged) for one in figures if document(one.experiment) == key)
    return f'<h2 id="{key}">{escape(DOCUMENTS[key])}</h2>\n{pieces}' if pieces else ""


def _figure(one: ShownFigure, judged: set[str]) -> str:
    experiment = one.experiment
    rows = ", ".join(
        f'<a href="#claim-{row}">{row}</a>' if row in judged else row for row in experiment.ids
    )
    return f"""<section id="{experiment.name}">
<h3>{escape(experiment.title)}</h3>
<p>{escape(experiment.question)}</p>
<figure>{one.picture()}
<figcaption>The document: {escape(experiment.stated)}. Rows {rows};
<a href="numbers/{experiment.name}.csv">the numbers</a>.</figcaption></figure>
{_settings(one)}</section>
"""


def _settings(one: ShownFigure) -> str:
    """Return all settings, and first those that are not the document's."""
    experiment, documents = one.experiment, one.experiment.values()
    other = {k: v for k, v in one.settings.items() if v != documents[k]}
    differ = "".join(
        f"<li>{escape(said({name: value}))} (the document: {escape(written(documents[name]))})</li>"
        for name, value in other.items()
    )
    warning = (
        f'<p class="refuted">Not the document\'s settings:</p><ul>{differ}</ul>' if other else ""
    )
    rows = "".join(
        f"<li>{escape(said({s.name: one.settings[s.name]}))}: {escape(s.meaning)}</li>"
        for s in experiment.settings
    )
    return f"{warning}<details><summary>settings</summary><ul>{rows}</ul></details>\n"


def _claims(claims: list[Judged]) -> str:
    if not claims:
        return ""
    return f"""<h2 id="claims">Claims</h2>
<p class="small">Each check is run on what is printed and on what stands instead: a correction, the
opposite, or a rival that must fail. A row whose verdict stays when the two are exchanged fails.</p>
<div class="wide"><table>
<thead><tr><th>row</th><th>verdict</th><th>the document</th><th>what decides</th></tr></thead>
<tbody>
{"".join(map(_claim, claims))}</tbody></table></div>
"""


def _claim(one: Judged) -> str:
    claim, verdict = one.claim, one.verdict.value
    return (
        f'<tr id="claim-{claim.id}"><td>{claim.id}</td><td class="{verdict}">{verdict}</td>'
        f"<td>{escape(claim.statement)}{_quoted(claim.quote)}</td><td>{escape(one.words)}"
        f"<details><summary>{escape(one.where)}</summary><pre>{escape(one.code)}</pre></details>"
        f"</td></tr>\n"
    )


def _quoted(quote: str) -> str:
    return f'<p class="small"><q>{escape(quote)}</q></p>' if quote else ""
