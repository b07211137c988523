"""Reports that can be filed, and entries for the registry of deployments."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sourdine as sd
from sourdine.errors import ParameterError, SourdineError
from sourdine.reports import sections
from sourdine.reports.about import About, check, check_text, lacking
from sourdine.reports.deployment import entry, to_yaml
from sourdine.reports.report import FiledReport
from sourdine.session.ledger import FileLedger

yaml = pytest.importorskip("yaml")

EVIL = "<script>alert(1)</script>\x1b[2J\r\n# cost  epsilon 0\u202e|$x_{&\"'`"
PEOPLE = {
    "age": list(range(100)) * 20,
    "sex": ["f", "m"] * 1000,
    EVIL: [EVIL, "b"] * 1000,
}
AGE = {"column": "age", "bounds": (0, 100), "step": 1}
ABOUT = {
    "title": "Ages",
    "purpose": "Planning",
    "description": "Means of ages.",
    "curators": ["Bureau"],
    "contact": "a@bureau.example",
    "legal_basis": "Act, 12",
    "region": "Nowhere",
    "sector": "Government",
    "published": "2026-01-31",
    "data": "One record for each person.",
    "collection": "By letter.\nAnd by telephone.",
    "retention": "A year",
    "data_source": "Static",
    "release_type": "One release",
    "access": "Two people",
    "access_type": "Non-interactive",
    "actors": "The bureau is trusted.",
    "security": "A safe",
    "preprocessing": "None",
    "unprotected": "None",
    "post_processing": "None",
    "justification": "The board chose it.",
    "sources": "A paper",
    "notes": "None",
    "authors": "A. Clerk",
}
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "article", "header", "nav", "section"),
    *("h1", "h2", "h3", "span", "b", "p", "br", "a", "ol", "li", "dl", "dt", "dd", "div"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure"),
    *("figcaption", "svg", "path", "rect", "line", "circle", "polygon", "polyline", "text"),
}


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def seen(page):
    parser = Seen()
    parser.feed(page)
    return parser


def session(tmp_path, **given):
    return sd.Session(PEOPLE, **{"epsilon": 50, "ledger": tmp_path / "a.ledger"} | given)


@pytest.fixture
def asked(tmp_path):
    s = session(tmp_path, delta=1e-6, name="people.csv")
    s.count(epsilon=1)
    s.mean(**AGE, epsilon=2)
    s.mean(**AGE, by="sex", keys=["f", "m"], epsilon=1)
    s.quantiles(**AGE, q=[0.25, 0.5, 0.75], epsilon=5)
    s.mean(column="age", bounds="find", epsilon=5)
    s.table(of={"age": ["mean", "median"]}, bounds={"age": (0, 100)}, steps={"age": 1}, epsilon=5)
    s.mode(column="sex", categories=["f", "m"], epsilon=1)
    s.count(error=5)
    return s


@pytest.mark.slow
def test_a_report_holds_every_release(asked):
    report = asked.report(about=ABOUT)
    page, text = report.to_html(), report.to_markdown()
    words = " ".join(seen(page).texts)
    for charge in asked.history:
        assert f"{charge.number}. {charge.what}" in words
        assert f"### {charge.number}. {charge.what}" in text
        for line in charge.release.sheet().lines:
            assert all(cell in words for cell in line)
            assert all(re.sub(r"([\[\]])", r"\\\1", cell) in text for cell in line)
        for caveat in charge.release.caveats:
            assert caveat in words
    for said in ABOUT.values():
        for part in [said] if isinstance(said, str) else said:
            assert all(line in words and line in text for line in part.split("\n"))
    assert "not stated" not in words
    assert "(ran: " in words
    assert all(check.passed for check in report.checks)
    facts = json.loads(report.to_json())
    kept = [sd.Release.from_json(json.dumps(r["answer"])) for r in facts["releases"]]
    assert kept == [charge.release for charge in asked.history]
    assert facts["spent"] == asked.spent.to_dict()
    assert facts["checks"][0]["passed"] is True


def test_headings_follow_the_guidelines(asked):
    titles = [section.title for section in asked.report().sections(pictures=False)]
    for part in ("parameter", "Unit of privacy", "Algorithms", "Bounds", "Trust", "side channels"):
        assert any(part in title for title in titles), part
    assert "Data collection exposure" in titles


def test_what_the_owner_does_not_say_is_not_stated(asked):
    assert asked.report().to_markdown().count("not stated") > 10
    assert asked.report(about={"contact": " "}).about.contact is None


@pytest.mark.slow
def test_a_page_needs_nothing_else(asked):
    page = asked.report(about=ABOUT).to_html()
    found = seen(page)
    assert found.tags <= TAGS
    links = [v for k, v in found.attributes if k in {"href", "xlink:href", "src"}]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not re.search(r"url\((?!#)", page)
    names = [v for k, v in found.attributes if k == "id"]
    assert len(names) == len(set(names))
    assert set(links) <= {f"#{name}" for name in names}


@pytest.mark.slow
def test_markup_in_names_stays_letters(tmp_path):
    s = session(tmp_path, name=EVIL)
    s.count(by=EVIL, keys=[EVIL, "b"], epsilon=1)
    s.histogram(column=EVIL, categories=[EVIL, "b"], epsilon=1)
    s.mean(**AGE, by=EVIL, keys=[EVIL, "b"], epsilon=1)
    s.mode(column=EVIL, categories=[EVIL, "b"], epsilon=1)
    s.table(of={"age": ["mean"]}, bounds={"age": (0, 100)}, steps={"age": 1}, epsilon=5)
    report = s.report(about=dict.fromkeys(("title", "purpose", "contact", "collection"), EVIL))
    for page in (report.to_html(), report._repr_html_()):
        found = seen(page)
        assert found.tags <= TAGS
        assert not [k for k, _ in found.attributes if k.startswith("on")]
        assert any("<script>alert(1)</script>" in text for text in found.texts)
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", page)
    text = report.to_markdown()
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert not re.search(r"(?m)^# cost", text)
    filled = entry(report)
    assert check_text(to_yaml(filled)) == []
    assert yaml.safe_load(to_yaml(filled)) == filled
    assert not re.search(r"(?<!\\)<script", filled["deployment"]["implementation"]["mechanisms"])


@pytest.mark.slow
def test_a_charge_without_an_answer_is_said(tmp_path, asked):
    sd.Session(PEOPLE, ledger=tmp_path / "a.ledger", keep=False).count(epsilon=1)
    report = asked.report()
    assert [filed.state for filed in report.filed][-2:] == ["kept", "charged, no answer kept"]
    for text in (report.to_html(), report.to_markdown(), report.to_json()):
        assert "no answer kept" in text
    assert all(check.passed for check in report.checks)


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (lambda facts: facts["drawn"].update(count=7), 3),
        (lambda facts: facts.update(value=7), 3),
        (lambda facts: facts["cost"].update(epsilon="1/100"), 2),
        (lambda facts: facts["question"].update(epsilon=0.01), 2),
        (lambda facts: facts.clear(), 3),
    ],
)
def test_an_answer_that_was_changed_is_noticed(tmp_path, change, failed):
    s = session(tmp_path, keep=False)
    s.count(epsilon=1)
    facts = sd.count(PEOPLE, epsilon=1).to_dict()
    change(facts)
    s._ledger.keep(s.history[0], json.dumps(facts))
    report = s.report()
    passed = [check.passed for check in report.checks]
    assert passed[failed] is False
    assert "FAILED" in report.to_html()
    assert "checks failed" in report.to_markdown()


def test_sums_are_computed_again(asked):
    report = asked.report()
    first, *others = report.charges
    wrong = replace(report, charges=(replace(first, cost=sd.Guarantee(0.5)), *others))
    assert [check.passed for check in wrong.checks][1] is False


def test_a_charge_that_is_missing_is_noticed():
    session = sd.Session(PEOPLE, epsilon=1)
    for epsilon in (0.25, 0.5):
        session.count(epsilon=epsilon)
    report = session.report()
    assert report.checks[1].passed
    assert not replace(report, charges=report.charges[1:]).checks[1].passed


@pytest.mark.slow
def test_large_releases_are_cut(tmp_path):
    keys = [f"k{i}" for i in range(10_000)]
    s = sd.Session({"k": keys}, epsilon=1, ledger=tmp_path / "a.ledger")
    s.count(by="k", keys=keys, epsilon=1)
    page = s.report().to_html()
    assert "and 9900 more" in page
    assert len(page) < 40_000


def test_pictures_need_no_matplotlib(asked, monkeypatch):
    page = asked.report().to_html()
    assert page.count("<svg") == 4  # means by sex, quartiles, and two statistics of a table
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert asked.report().to_html().count("<svg") == 4


def test_a_session_in_memory_has_a_report():
    s = sd.Session(PEOPLE, epsilon=1)
    empty = s.report()
    assert "0 releases were charged" in empty.to_markdown()
    s.count(epsilon=0.5)
    assert "kept in memory" in s.report().to_markdown()
    assert check(entry(empty)) == check(entry(s.report())) == []


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_reports_are_written_by_their_ending(asked, tmp_path, ending):
    asked.report(about=ABOUT).write(tmp_path / f"report.{ending}")
    assert "Planning" in (tmp_path / f"report.{ending}").read_text("utf-8")


def test_a_report_elsewhere_is_refused(asked, tmp_path):
    with pytest.raises(ParameterError, match=r"report must end in \.html, \.md or \.json"):
        asked.report().write(tmp_path / "report.pdf")
    with pytest.raises(SourdineError, match="could not be written"):
        asked.report().write(tmp_path / "nowhere" / "report.md")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"titel": "x"}, "Did you mean 'title'?"),
        ({"zzz": "x"}, "Known names: "),
        ({"title": 7}, "hold a text as title, got 7"),
        ({"curators": [7]}, "hold a list of strings as curators"),
        ({"published": "1/1/2026"}, "hold a day as published"),
        ({"sector": "Fishing"}, "hold one of Technology"),
        ("nowhere.toml", "No such file"),
    ],
)
def test_what_the_owner_says_is_read_or_refused(about, said):
    with pytest.raises(SourdineError, match=re.escape(said)):
        About.read(about)


def test_what_the_owner_says_may_be_a_file(tmp_path):
    path = tmp_path / "about.toml"
    path.write_text("published = 2026-01-31\nauthors = ['A', 'B']\ncurators = 'C'\n")
    assert About.read(path) == About(published="2026-01-31", authors=("A", "B"), curators=("C",))
    path.write_text("purpose = planning")
    with pytest.raises(ParameterError, match="not TOML"):
        About.read(path)


def test_an_entry_is_filled_from_the_ledger(asked):
    filled = entry(asked.report(about=ABOUT))
    assert check(filled) == []
    assert filled["tier"] == 3
    assert filled["url_slug"] == "ages-bureau-2026"
    deployment = filled["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 50.0, "delta": 1e-6}
    assert deployment["basic"]["publication_date"] == "2026-01-31"
    assert "mode, permute-and-flip" in deployment["implementation"]["mechanisms"]
    assert yaml.safe_load(to_yaml(filled)) == filled


def test_the_tier_is_that_of_what_is_said(asked):
    second = {k: v for k, v in ABOUT.items() if k not in {"actors", "justification"}}
    assert entry(asked.report(about=second))["tier"] == 2
    bare = entry(asked.report())
    assert bare["tier"] == 1
    assert check(bare) == []
    assert {"deployment.basic.intended_use", "deployment.basic.data_curators"} <= set(
        lacking(bare, 1)
    )


def test_parameters_are_never_rounded_down(tmp_path):
    s = session(tmp_path, epsilon="1/3", unit="sex", rows=3, relation="substitute")
    loss = entry(s.report())["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"]["epsilon"] >= 1 / 3
    assert "replaced" in loss["privacy_unit_details"]
    assert loss["privacy_unit"] == "One sex with all their rows"


GOOD = {
    "url_slug": "a",
    "status": "Draft",
    "tier": 1,
    "deployment": {
        "basic": {
            "name": "A",
            "data_curators": ["B"],
            "description": "C",
            "intended_use": "D",
            "data_product_type": "Summary statistics",
            "data_product_region": "E",
            "publication_date": "2026-01-01",
        },
        "privacy_loss": {"privacy_parameters": {}},
        "administrative": {"registry_authors": ["F"]},
    },
}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("tier",), 0, "tier must be one of 1, 2, 3, got 0"),
        (("tier",), True, "tier must be a whole number"),
        (("status",), None, "status must be a text"),
        (("surprise",), "x", "'surprise' is unknown"),
        (("deployment", "basic", "publication_date"), "1/1/2026", "year-month-day"),
        (("deployment", "basic", "publication_date"), "2026-02-30", "year-month-day"),
        (("deployment", "basic", "data_curators"), [], "at least one"),
        (("deployment", "basic", "data_curators"), "B", "a list of texts"),
        (("deployment", "basic", "data_product_sector"), "Fishing", "one of Technology"),
        (("deployment", "privacy_loss", "privacy_parameters"), {"epsilon": "1"}, "a number"),
        (("deployment", "privacy_loss", "privacy_parameters"), {"mu": 1}, "'mu' is unknown"),
        (("deployment", "administrative"), {}, "registry_authors is required"),
        (("deployment",), [], "deployment must be names with values, got a list"),
    ],
)
def test_a_wrong_entry_is_noticed(path, value, said):
    record = json.loads(json.dumps(GOOD))
    assert check(record) == check_text(yaml.safe_dump(record)) == []
    place = record
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    (fault,) = check(record)
    assert said in fault
    assert check_text(yaml.safe_dump(record)) == [fault]


def test_texts_that_are_no_entry_are_refused():
    folded = to_yaml(GOOD).replace('name: "A"', "name: >\n      A\n      B")
    assert check_text(folded) == [
        "line 6 must write its text with | in place of >: that keeps lines."
    ]
    assert "YAML" in check_text("a: [")[0]
    assert "YAML" in check_text("[" * 900)[0]
    assert check_text("") == ["the entry must be names with values, got None."]
    bomb = "\n".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]" for i in range(40))
    assert len("".join(check_text(f"a0: &a0 [x]\n{bomb}"))) < 10_000
    dated = to_yaml(GOOD).replace('"2026-01-01"', "2026-01-01")
    assert "got a date" in check_text(dated)[0]


@pytest.mark.slow
@given(st.lists(st.text(), min_size=1), st.text(), st.floats(0, 1e300))
def test_yaml_is_read_back_as_it_was_written(texts, text, number):
    record = {"a": texts, "b": {"c": text, "d": "\n".join(texts)}, "e": number, "f": 3}
    assert yaml.safe_load(to_yaml(record)) == record


REGISTRY = Path(os.environ.get("DEPLOYMENTS_REGISTRY", "nowhere"))


@pytest.mark.skipif(not REGISTRY.exists(), reason="DEPLOYMENTS_REGISTRY names no copy of it")
def test_the_registrys_samples_are_judged_as_it_does(asked):
    """Set DEPLOYMENTS_REGISTRY to a folder with the schema and ``good`` and ``bad`` entries."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = yaml.safe_load((REGISTRY / "deployments-schema.yaml").read_text("utf-8"))
    judge = jsonschema.Draft202012Validator(schema)
    good, bad = (sorted((REGISTRY / kind).glob("*.yaml")) for kind in ("good", "bad"))
    assert good
    assert bad
    assert [path.name for path in good if check_text(path.read_text("utf-8"))] == []
    assert [path.name for path in bad if not check_text(path.read_text("utf-8"))] == []
    for about in (ABOUT, {}):
        filled = yaml.safe_load(to_yaml(entry(asked.report(about=about))))
        assert list(judge.iter_errors(filled)) == []


def test_a_report_of_a_file_is_that_of_its_session(asked, tmp_path):
    ledger = FileLedger(tmp_path / "a.ledger", None)
    mine, yours = asked.report(about=ABOUT), FiledReport.of(ledger, About.read(ABOUT))
    assert replace(mine, when="") == replace(yours, when="")
    assert repr(mine).startswith("<FiledReport: Ages, 8 releases, 41.")


@pytest.mark.parametrize(
    ("total", "variant", "account"),
    [
        ({"epsilon": 3, "delta": 1e-6}, "Approximate DP", "one Rényi order"),
        ({"rho": 0.5}, "Zero-concentrated DP", "zero-concentrated prices"),
        ({"epsilon": 3}, "Pure DP", "the sum of all epsilons"),
    ],
)
def test_every_way_to_count_is_reported(total, variant, account):
    session = sd.Session({"age": [20, 30, 40] * 1000}, **total)
    session.mean(column="age", bounds=(0, 120), step=1, epsilon=0.5)
    report = session.report()
    filled = entry(report)["deployment"]
    assert filled["dp_variant"]["variant_name"] == variant
    assert set(filled["privacy_loss"]["privacy_parameters"]) == set(total)
    assert account in report.to_markdown()
    assert all(check.passed for check in report.checks)
    charge = report.charges[0]
    forged = replace(report, charges=(replace(charge, account=report.terms.start),))
    assert not all(check.passed for check in forged.checks)


@pytest.mark.slow
def test_answers_from_a_text_file_belong_to_their_charges(tmp_path):
    """There the number of records is private, and the question is answered as such."""
    file = tmp_path / "ages.csv"
    file.write_text("age,vote\n" + "30,yes\n40,no\n" * 200)
    s = sd.Session(file, epsilon=9, ledger=tmp_path / "a.ledger")
    grid = {"column": "age", "bounds": (0, 120), "step": 1, "epsilon": 1}
    s.mean(**grid)
    s.mean(**grid, by="vote", keys=["yes", "no"])
    s.proportion(column="vote", category="yes", epsilon=1)
    s.variance(**grid)
    s.quantiles([0.25, 0.75], **grid)
    report = FiledReport.of(FileLedger(tmp_path / "a.ledger", None), About.read(None))
    assert [check.what for check in report.checks if not check.passed] == []
    other = replace(report.charges[0], parameters=report.charges[3].parameters)
    assert not all(check.passed for check in replace(report, charges=(other,)).checks)


@pytest.mark.slow
def test_many_numbers_of_groups_are_drawn_in_panels():
    table = {"v": list(range(100)) * 3, "g": ["a", "b", "c"] * 100}
    of_groups = sd.histogram(
        table, column="v", bins=30, bounds=(0, 100), by="g", keys=["a", "b", "c"], epsilon=1
    )
    assert len(of_groups.columns().values) == 90
    (picture,) = sections.drawn(of_groups, "counts")
    assert picture.svg.count('class="bar"') == 90
    alone = sd.histogram(table, column="v", bins=90, bounds=(0, 100), epsilon=1)
    assert sections.drawn(alone, "counts") == []


@pytest.mark.slow
def test_statistics_of_a_table_have_a_picture_each():
    table = {"v": [10, 20, 30, 40] * 200, "w": [1, 2] * 400, "g": ["a", "b"] * 400}
    asked = {
        "of": {"v": ["mean", "quartiles"], "w": ["sum"]},
        "bounds": {"v": (0, 50), "w": (0, 5)},
        "steps": {"v": 1, "w": 1},
        "epsilon": 10,
    }
    pictures = sections.drawn(sd.table(table, **asked, by="g", keys=["a", "b"]), "a table")
    dots = {one.title: one.svg.count('class="dot"') for one in pictures}
    assert dots == {"mean of v": 2, "quartiles of v": 6, "sum of w": 2}
    assert ">b, 75%<" in pictures[1].svg
    (mean, *_) = sections.drawn(sd.table(table, **asked), "a table")
    assert ">mean<" in mean.svg
    keys = [f"k{i}" for i in range(70)]
    many = sections.drawn(sd.table(table, **asked, by="g", keys=keys), "a table")
    assert many == []


def test_columns_of_a_description_have_a_picture_each():
    table = {"v": list(range(1000)), "g": ["a", "b"] * 500, "none": [None] * 1000}
    release = sd.describe(table, epsilon=50, delta=1e-6)
    pictures = {one.title: one.svg for one in sections.drawn(release, "a description")}
    assert list(pictures) == ["v", "g"]
    assert 'class="curve"' in pictures["v"]
    assert pictures["g"].count('class="dot"') == 2


def test_the_parameters_round_what_remains_down(tmp_path):
    opened = session(tmp_path, epsilon=1)
    opened.count(epsilon="1/3")
    page = " ".join(seen(opened.report(ABOUT).to_html()).texts)
    assert "0.333334" in page
    assert "0.666666" in page
