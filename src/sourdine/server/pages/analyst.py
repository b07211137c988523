"""The analyst's pages: data sets, the form, releases, downloads."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from io import BytesIO, StringIO
from shlex import quote
from threading import Lock
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from sourdine.answers import Release
from sourdine.errors import SourdineError, literal
from sourdine.plan.plans import ordinal
from sourdine.reports.sections import COLOURS
from sourdine.results.answer import plain
from sourdine.results.charts import groups_of
from sourdine.results.tables import json_text
from sourdine.server import datasets, people, releases, surveys
from sourdine.server.datasets import stored_columns
from sourdine.server.pages.fields import FORM, column_kinds, fields_under, kinds
from sourdine.server.pages.pictures import CurvePicture, gauge, release_picture
from sourdine.server.pages.rendering import exact, stylesheet, upward
from sourdine.server.releases import asked_of, listed
from sourdine.server.requests import MOST_QUESTIONS, RefusedError
from sourdine.server.store.base import NotGrantedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from sourdine.server.datasets import PublicColumns
    from sourdine.server.pages.rendering import Visit


# ---- What was asked, to be asked again elsewhere: in Python, and in a shell ----------------------
#
# Both ask this server, so they spend of the same total; a token takes the place of the password.


KEYED = '-H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(uuidgen)"'
"""The headers of a command; the key is new with every run."""


def as_python(url: str, call: str) -> str:
    """Return a program that calls a method of a server.

    Examples
    --------
    >>> print(as_python("http://a", "guard('eval').submit('predictions.csv')"))
    import sourdine as sd
    <BLANKLINE>
    token = "..."  # made on the page Tokens
    with sd.Remote('http://a', token) as server:
        print(server.guard('eval').submit('predictions.csv'))
    """
    return (
        'import sourdine as sd\n\ntoken = "..."  # made on the page Tokens\n'
        f"with sd.Remote({url!r}, token) as server:\n    print(server.{call})"
    )


def copies(visit: Visit, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return a question of the data set in the path, for Python and for a shell."""
    name, statistic = visit.dataset.name, asked["statistic"]
    said = ", ".join(f"{name}={literal(x)}" for name, x in asked.items() if name != "statistic")
    address = quote(f"{visit.url}/api/v1/datasets/{name}/releases")
    body = quote(json.dumps(asked, ensure_ascii=False))
    return {
        "python": as_python(visit.url, f"session({name!r}).{statistic}({said})"),
        "command": f"curl {address} \\\n  {KEYED} \\\n  --json {body}",
    }


def guard_copies(visit: Visit, guard: str) -> dict[str, str]:
    """Return the submission of a file of predictions to a guard, for Python and for a shell."""
    address = quote(f"{visit.url}/api/v1/guards/{guard}/submissions")
    body = "jq -Rs '{predictions: .}' predictions.csv"
    return {
        "python": as_python(visit.url, f'guard({guard!r}).submit("predictions.csv")'),
        "command": f"{body} |\n  curl {address} --json @- \\\n  {KEYED}",
    }


# ---- A release as a file: its numbers as CSV, its picture as SVG or PNG, everything public as JSON


TYPES = {"csv": "text/csv", "svg": "image/svg+xml", "png": "image/png", "json": "application/json"}
MOST_GROUPS_DRAWN, MOST_NUMBERS_DRAWN = 24, 1000
"""What is larger has no PNG: matplotlib would keep a thread for many seconds."""
PATIENCE = 5.0
"""Seconds to wait for other threads that draw."""
DRAWING = Lock()
"""matplotlib's settings are those of the process: one thread draws at a time."""
WIDE = 720
RULE = re.compile(r"^([^@{}]+?) *\{([^{}]*)\}$", re.MULTILINE)
CLASS = re.compile(r"\.([\w-]+)")


def download(visit: Visit) -> Response:
    """Answer with one release as a file to be saved."""
    number, form = visit.call.path["number"], visit.call.path["format"]
    first = releases.first_number(visit.call, number)
    stored = visit.at(number=first).ask(releases.one_release)
    text: str | bytes = ""
    if stored["answers"]:
        facts = stored["answers"][int(number) - stored["number"]]
        makers: dict[str, Callable[[Release], str | bytes]]
        makers = {"png": as_png, "csv": as_csv, "svg": as_svg}
        if form == "json":
            text = f"{json_text(facts)}\n"
        elif form in makers:
            text = makers[form](Release.from_dict(facts))
    if not text:
        raise NotGrantedError("This release has no such file.")
    named = f'attachment; filename="{visit.dataset.name}-{number}.{form}"'
    return Response(text, 200, {"content-disposition": named}, TYPES[form])


def formats(release: Release, *, drawn: bool) -> list[str]:
    """Return the formats that a release can be downloaded in; ``drawn`` if it has a picture."""
    found = {"csv", "json"}
    if drawn:
        found.add("svg")
        if _quickly_drawn(release):
            found.add("png")
    return [form for form in TYPES if form in found]


def as_csv(release: Release) -> str:
    r"""Return the numbers of a release with their labels and the ends of their intervals.

    Examples
    --------
    >>> import sourdine as sd
    >>> as_csv(sd.count(["a"] * 9, epsilon=1)).splitlines()[0]
    'count,lower,upper'
    """
    columns = release.columns().to_dict()
    text = StringIO()
    rows = csv.writer(text)
    rows.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        rows.writerow(["" if x is None else plain(x) for x in row])
    return text.getvalue()


def as_svg(release: Release) -> str:
    """Return the picture of a release, which needs no page around it; empty where there is none."""
    picture = str(release_picture(release, WIDE))
    if not picture:
        return ""
    wide, high = picture.partition('viewBox="0 0 ')[2].partition('"')[0].split()
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    inside = picture.removeprefix("<svg ").replace(
        ">", f"><style>{_style(picture)}</style>{paper}", 1
    )
    return f"{head}{inside}\n"


def as_png(release: Release) -> bytes:
    """Return the picture that `Release.plot` draws; empty where there is none, or no matplotlib."""
    if not _quickly_drawn(release) or not release_picture(release, WIDE):
        return b""
    if not DRAWING.acquire(timeout=PATIENCE):
        what = "The server is busy drawing other pictures."
        hint = "Send the same request again in a moment; nothing is charged for it."
        raise RefusedError(503, "the picture", what, "", hint, wait=5)
    try:
        page = BytesIO()
        release.plot().savefig(page, format="png")
    finally:
        DRAWING.release()
    return page.getvalue()


def _quickly_drawn(release: Release) -> bool:
    """Whether matplotlib is there, and draws a release in a second or two."""
    columns = release.columns()
    few = len(columns.values) <= MOST_NUMBERS_DRAWN
    few = few and (not columns.by or len(groups_of(columns)) <= MOST_GROUPS_DRAWN)
    return few and find_spec("matplotlib") is not None


def _style(picture: str) -> str:
    """Return the rules of the pages' style that a picture needs, in the colours of daylight."""
    used = {name for found in re.findall(r'class="([^"]*)"', picture) for name in found.split()}
    colours: Mapping[str, str] = {word: both[0] for word, both in COLOURS.items()}
    css = stylesheet()
    own = dict(re.findall(r"--([\w-]+): ([^;]+);", css.partition("@media")[0]))

    def needed(selector: str) -> bool:
        classes = CLASS.findall(selector)
        return selector == "svg text" or (bool(classes) and set(classes) <= used)

    rules = ""
    for selectors, body in RULE.findall(css):
        kept = [one for one in (part.strip() for part in selectors.split(",")) if needed(one)]
        if kept:
            rules += f"{', '.join(kept)} {{{body}}}\n"
    return re.sub(r"var\(--([\w-]+)\)", lambda found: {**own, **colours}[found[1]], rules)


# ---- The analyst's pages: data sets with gauges, the desk, what was released, tokens -------------


RECORDS = ("count", "histogram")
RECENT = 12


def home(visit: Visit) -> Response:
    """Show the data sets, each with its gauge, and the surveys."""
    found = [{**facts, "gauge": _gauge(facts, 0.0)} for facts in visit.ask(datasets.listing)]
    return visit.shows("home.html", datasets=found, surveys=visit.ask(surveys.surveys))


def desk(visit: Visit) -> Response:
    """Show where a data set is asked."""
    facts = visit.ask(datasets.reading)
    columns = stored_columns(visit.dataset.columns)
    known = _known(facts, columns)
    return visit.shows(
        "desk.html", dataset=facts, columns=columns, column_kinds=list(column_kinds(columns)),
        kinds=kinds(),
        fields=[one for one in fields_under(visit.dataset.terms) if one.name not in known],
        gauge=_gauge(facts, 0.0), history=_history(visit, facts["last"]),
    )  # fmt: skip


def _known(facts: Mapping[str, Any], columns: PublicColumns) -> set[str]:
    """Return the parameters that nobody need type: what the owner says, what no column has."""
    grouped = not columns or any("keys" in one for one in columns.values())
    return {*(["n"] if facts["n"] else []), *([] if grouped else ["by", "keys", "other"])}


def history(visit: Visit) -> Response:
    """Show the last charges of a data set: a part of the desk."""
    facts = visit.ask(datasets.reading)
    return visit.shows("history.html", dataset=facts, history=_history(visit, facts["last"]))


def _history(visit: Visit, last: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    after = max(last["number"] - RECENT - MOST_QUESTIONS, 0) if last else 0  # no batch is cut
    recent = replace(visit, call=replace(visit.call, query={"after": str(after)}))
    charges: list[dict[str, Any]] = recent.ask(releases.history)["charges"]
    return charges[: -RECENT - 1 : -1]


def _afford(facts: Mapping[str, Any]) -> Fraction:
    """Return the largest epsilon that this person could spend at once, whatever is asked."""
    left = facts["remaining"]
    whole = Fraction(left["epsilon"] if "epsilon" in left else left["largest"]["pure"])
    grant = facts["grant"]
    return min(whole, Fraction(grant["remaining"])) if grant else whole


def _granted(facts: Mapping[str, Any], epsilon: Fraction) -> bool:
    """Return whether this person may spend an amount; the total is checked elsewhere."""
    grant = facts["grant"]
    return facts["state"] == "open" and bool(grant) and epsilon <= Fraction(grant["remaining"])


def _gauge(facts: Mapping[str, Any], planned: float) -> Markup:
    left = facts["remaining"]
    if "epsilon" in left:
        total = Fraction(left["epsilon"]) + Fraction(facts["spent"]["epsilon"])
        return gauge(facts["share"], planned, exact(left["epsilon"]), exact(total))
    return gauge(facts["share"], planned, f"{1 - facts['share']:.1%}", "the total")


def _taken(visit: Visit, asked: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of the total that questions would take; more than 1 if they do not fit."""
    dataset = visit.dataset
    session = visit.call.state.session(dataset)
    account = before = session.account
    try:
        for one in asked:
            question = asked_of(session.can_release, one, dataset).question
            account = account.after(question.cost, question.parts)
    except SourdineError:
        return 2.0
    return float(account.share - before.share)


def plan(visit: Visit) -> Response:
    """Show what a question will cost, or how far off it will be: a part of the desk."""
    facts, asked = visit.ask(datasets.reading), visit.call.body()
    try:
        planned = visit.ask(releases.plan)
    except SourdineError as refusal:
        said, empty = refusal.said(FORM), _gauge(facts, 0.0)
        return visit.shows("plan.html", said=said, at=refusal.name, gauge=empty, plan=None)
    epsilon, error = Fraction(planned["epsilon"]), planned["error"]
    free = {name: x for name, x in asked.items() if name not in ("epsilon", "error")}
    typed = {name: planned["question"].get(name, x) for name, x in free.items()}
    again = {**typed, "epsilon": planned["question"]["epsilon"]}
    afford = _afford(facts)
    return visit.shows(
        "plan.html", said="", plan=planned, promise=_promise(planned), error=error, dataset=facts,
        gauge=_gauge(facts, _taken(visit, [{**free, "epsilon": str(epsilon)}])),
        curve=_curve(visit, free, planned, afford),
        fits=planned["fits"] and _granted(facts, epsilon), afford=afford, **copies(visit, again),
    )  # fmt: skip


def _promise(planned: Mapping[str, Any]) -> tuple[str, str]:
    """Return how far off an answer will be: the number, and what it counts.

    Examples
    --------
    >>> asked = {"statistic": "quantile", "q": 0.25}
    >>> _promise({"question": asked, "error": 0.00304, "ranks": True})
    ('within 0.304', 'percentage points of the 25th percentile')
    >>> _promise({"question": {"statistic": "count"}, "error": 20.5, "ranks": False})
    ('± 20.5', 'records')
    >>> asked = {"statistic": "histogram", "weights": "w"}
    >>> _promise({"question": asked, "error": 20.5, "ranks": False})
    ('± 20.5', 'of weight')
    """
    asked, error = planned["question"], planned["error"]
    if not planned["ranks"] or not isinstance(error, (int, float)):
        unit = "of weight" if asked.get("weights") else "records"
        return f"± {upward(error)}", unit if asked["statistic"] in RECORDS else ""
    orders = asked.get("q", 0.5)
    first, *more = orders if isinstance(orders, list) else [orders]
    percent = ordinal(float(100 * Fraction(str(first))))
    whose = "each percentile" if more else f"the {percent} percentile"
    return f"within {upward(100 * error)}", f"percentage points of {whose}"


def _curve(
    visit: Visit, said: Mapping[str, Any], planned: Mapping[str, Any], afford: Fraction
) -> Markup | str:
    points = [*visit.ask(releases.curve, said)["points"], (planned["epsilon"], planned["error"])]
    factor = 100 if planned["ranks"] else 1
    *rest, own = [
        (float(Fraction(e)), factor * x) if isinstance(x, (int, float)) else None for e, x in points
    ]
    unit = "percentage points" if planned["ranks"] else _promise(planned)[1]
    known = [one for one in rest if one is not None]
    if not known:
        return ""
    drawn = CurvePicture(points=known, here=own, afford=float(afford), wide=visit.wide, unit=unit)
    return drawn.draw()


def together(visit: Visit) -> Response:
    """Show how one total is shared among several questions: a part of the desk."""
    facts, body = visit.ask(datasets.reading), visit.call.body()
    batch = listed(body)
    try:
        if body.get("epsilon") is None:  # each at what it was typed with
            plans = [visit.ask(releases.plan, one) for one in batch]
        else:
            shared = {"questions": batch, "epsilon": body["epsilon"]}
            plans = visit.ask(releases.plan, shared)["plans"]
    except SourdineError as error:
        return visit.shows("together.html", said=error.said(FORM), plans=None)
    asked = [
        {**{name: x for name, x in one.items() if name != "error"}, "epsilon": plan["epsilon"]}
        for one, plan in zip(batch, plans, strict=True)
    ]
    whole = sum((Fraction(one["epsilon"]) for one in plans), Fraction(0))
    taken = _taken(visit, asked)
    return visit.shows(
        "together.html", said="", plans=[(one, " ".join(_promise(one))) for one in plans],
        whole=whole, fits=facts["share"] + taken <= 1 and _granted(facts, whole),
        asked=json.dumps({"questions": asked}), gauge=_gauge(facts, taken),
    )  # fmt: skip


def release(visit: Visit) -> Response:
    """Show what was released under one key: pictures, tables, what must be known with them."""
    first = releases.first_number(visit.call, visit.call.path["number"])
    stored = visit.at(number=first).ask(releases.one_release)
    answers = [Release.from_dict(answer) for answer in stored["answers"]]
    shown = [_shown(visit, one, number) for number, one in enumerate(answers, stored["number"])]
    facts = visit.ask(datasets.reading)
    return visit.shows("release.html", stored=stored, answers=shown, dataset=facts)


def _shown(visit: Visit, one: Release, number: int) -> dict[str, Any]:
    asked = one.to_dict()["question"]
    own = stored_columns(visit.dataset.columns).get(asked.get("column", ""), {})
    left = {name: x for name, x in asked.items() if name not in own and name != "read"}
    sheet = one.sheet()
    wide = sheet.lead is not None and one.mechanism.display.lead is not None
    picture = release_picture(one, visit.wide)
    return {
        "number": number, "name": one.mechanism.display.title or str(one.mechanism),
        "heads": sheet.heads, "rows": sheet.lines,
        "labels": max(sheet.lead or 0, 1) if wide else len(one.columns().labels),
        "picture": picture, "formats": formats(one, drawn=bool(picture)), "notes": sheet.notes,
        **copies(visit, left),
    }  # fmt: skip


def tokens(visit: Visit) -> Response:
    """Show the tokens of the person, and make one."""
    held = [one for one in visit.ask(people.tokens) if one["kind"] == "api" and one["holds"]]
    return visit.shows("tokens.html", tokens=held)
