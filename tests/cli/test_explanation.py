"""``explain``: what an epsilon means to one person."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.plan.explanation import Explanation

EPSILONS = st.fractions(0, 12, max_denominator=10**5)


def exactly(epsilon, alarms=Fraction(1, 20)):
    """Return e^epsilon, the power and the posteriors of 1/2 and 1/1000, to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        e = Fraction((Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())
    power = min(e * alarms, 1 - (1 - alarms) / e)
    ends = [
        (p / (p + (1 - p) * e), p * e / (p * e + 1 - p))
        for p in (Fraction(1, 2), Fraction(1, 1000))
    ]
    return e, power, ends


@pytest.mark.slow
@given(EPSILONS)
def test_nothing_is_rounded_to_reassure(epsilon):
    tiny = Fraction(1, 10**45)
    e, power, ends = exactly(epsilon)
    said = sd.explain(epsilon, releases=[1])
    ((_, cost, times, found, *spans),) = said.sheet().lines
    assert Fraction(cost) >= epsilon
    assert e - tiny <= Fraction(times) <= e * Fraction(102, 100)
    assert 100 * (power - tiny) <= Fraction(found.removesuffix("%")) <= 100 * power + 1
    for (low, high), span in zip(ends, spans, strict=True):
        left, right = (Fraction(end) for end in span.removesuffix("%").split(" to "))
        assert left <= 100 * (low + tiny)
        assert right >= 100 * (high - tiny)
    (line,) = said.to_dict()["releases"]
    assert Fraction(line["factor"]) >= e - tiny
    assert Fraction(line["found"]) >= power - tiny
    for (low, high), (left, right) in zip(ends, line["posterior"].values(), strict=True):
        assert Fraction(left) <= low + tiny
        assert Fraction(right) >= high - tiny


def test_sentences_speak_of_the_relation():
    def said(*given):
        return " ".join(text for _, text in sd.explain(*given).sentences())

    assert "the odds that a person is in the data by a factor of at most 1.65" in said(0.5)
    assert "the odds between two values of a person" in said(sd.Guarantee(0.5, relation="local"))
    assert "except with probability 2.1e-05" in said(0.5, 1e-6)
    assert "may be revealed" in said(0.5, 1e-6)
    assert "may be revealed" not in said(0.5)
    assert "by any factor, up or down." in said(sd.Guarantee.none())


def test_a_release_is_explained_by_its_cost():
    released = sd.count([1, 2, 3], epsilon=0.5)
    assert sd.explain(released.cost) == sd.explain(0.5)


def test_json_comes_back():
    said = sd.explain(0.7, 1e-5, releases=[1, 12])
    assert Explanation.from_dict(json.loads(said.to_json())) == said
    assert json.loads(sd.explain(800).to_json())["releases"][0]["factor"] is None


def test_html_says_the_same():
    said = sd.explain(0.5)
    page = said._repr_html_()
    for cell in said.sheet().lines[0]:
        assert f"<td>{cell}</td>" in page


def test_wrong_parameters_are_refused():
    with pytest.raises(ParameterError, match=r"delta must be omitted if a guarantee is given"):
        sd.explain(sd.Guarantee(1), 0.1)
    with pytest.raises(ParameterError, match=r"releases must hold at least one number"):
        sd.explain(1, releases=[])
    with pytest.raises(ParameterError, match=r"releases must be at most 1000"):
        sd.explain(1, releases=[2000])


@pytest.mark.slow
def test_the_command_says_the_same(run, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "x.html"
    status, out, _ = run("explain", "0.5", "--delta", "1e-6", "--json", "--plot", page)
    assert (status, json.loads(out)) == (0, json.loads(sd.explain(0.5, 1e-6).to_json()))
    assert "<svg" in page.read_text()
    status, out, _ = run("explain", "0.5")
    assert status == 0
    assert "37.7 to 62.3%" in out
    assert run("explain", "much")[::2] == (
        2,
        "sourdine: EPSILON must be a number, got much. Use 0.5.\n",
    )


@pytest.mark.slow
def test_the_picture_has_the_point(tmp_path):
    pytest.importorskip("matplotlib")
    figure = sd.explain(0.5).plot(path=str(tmp_path / "x.png"))
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert "1 release: finds 8.25% with 5% false alarms" in texts
    assert (tmp_path / "x.png").stat().st_size > 20_000
