"""One page with every figure and every claim, that needs no network."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sourdine import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sourdine.lab.claims.claim import Judged
    from sourdine.lab.experiment import Experiment
    from sourdine.lab.table import Table

__all__ = ["Shown", "page"]

LARGEST = 200_000
"""A drawing of more characters is put into the page as an image."""

STYLE = """
:root{--ink:#1f2933;--grey:#616e7c;--rule:#e4e7eb;--good:#00725a;--mend:#0072b2;--bad:#b34700}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);max-width:60rem;margin:2rem auto}
body{padding:0 1rem}
h1,h2,h3{line-height:1.2} figure{margin:1.5rem 0} figure svg,figure img{max-width:100%;height:auto}
figcaption,.small{color:var(--grey);font-size:.875rem} table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top}
.confirmed{color:var(--good)}.corrected{color:var(--mend)}.refuted,.undecided{color:var(--bad)}
nav a{margin-right:.8rem} code{font-size:.875em}
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment, its figure, and where its files are."""

    experiment: Experiment
    figure: Any
    table: Table

    def save(self, folder: Path) -> None:
        """Write the figure as PNG and SVG."""
        for ending in ("png", "svg"):
            self.figure.savefig(folder / f"{self.experiment.name}.{ending}")

    def picture(self) -> str:
        """Return the figure as a piece of a page."""
        drawing = BytesIO()
        self.figure.savefig(drawing, format="svg", metadata={"Date": None})
        text = drawing.getvalue().decode()
        if len(text) <= LARGEST:
            return text[text.index("<svg") :]
        image = BytesIO()
        self.figure.savefig(image, format="png", dpi=110)
        code = b64encode(image.getvalue()).decode()
        return f'<img alt="{escape(self.experiment.title)}" src="data:image/png;base64,{code}">'


def page(shown: Iterable[Shown], judged: Iterable[Judged], *, quick: bool, seed: int) -> str:
    """Return the whole page."""
    made = f"sourdine {__version__}, {'quick' if quick else 'full'} run, seed {seed}"
    figures = "\n".join(_figure(one) for one in shown)
    claims = "\n".join(_claim(one) for one in judged)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sourdine: the lab</title><style>{STYLE}</style>
<h1>The lab</h1>
<p class="small">{escape(made)}</p>
<nav><a href="#claims">Claims</a><a href="#figures">Figures</a></nav>
<h2 id="claims">Claims</h2>
<table><thead><tr><th>row</th><th>verdict</th><th>claim</th><th>what decides</th></tr></thead>
<tbody>
{claims}
</tbody></table>
<h2 id="figures">Figures</h2>
{figures}
</html>
"""


def _figure(one: Shown) -> str:
    experiment = one.experiment
    stand_in = f"<p>Stand-in for the data: {escape(experiment.stand_in or '')}.</p>"
    return f"""<section id="{experiment.name}">
<h3>{escape(experiment.title)} <span class="small">{", ".join(experiment.ids)}</span></h3>
<p>{escape(experiment.question)}</p>
<figure>{one.picture()}<figcaption>The document: {escape(experiment.stated)}.</figcaption></figure>
{stand_in if experiment.stand_in else ""}</section>"""


def _claim(one: Judged) -> str:
    claim, verdict = one.claim, one.verdict.value
    return (
        f'<tr id="claim-{claim.id}"><td>{escape(claim.id)}</td><td class="{verdict}">{verdict}</td>'
        f"<td>{escape(claim.statement)}</td><td>{escape(one.words)}<br>"
        f"<code>{escape(one.where)}</code></td></tr>"
    )
