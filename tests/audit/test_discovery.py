"""The audit finds every mechanism by itself, and everything that draws."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from inspect import isfunction, ismodule
from pkgutil import walk_packages
from types import ModuleType

import pytest

import sourdine
from sourdine import local, noise
from sourdine.audit import chosen, discovery, every_mechanism, registered, unaudited
from sourdine.central.mean import METHODS as MEANS
from sourdine.central.quantiles.methods import METHODS as QUANTILES
from sourdine.errors import ParameterError
from sourdine.local.densities.call import METHODS as DENSITIES
from sourdine.local.densities.call import protocol
from sourdine.local.densities.density import DensityProtocol
from sourdine.local.table.columns import CATEGORICAL, NUMERIC
from sourdine.mechanisms import Laplace, Mechanism, Specimen, register
from sourdine.mechanisms.mechanism import FAMILIES
from sourdine.noise import SeededSource
from sourdine.questions import STATISTICS

EXEMPT = {
    "sourdine.adaptive.query_server.looks": (
        "A conversation has no law of its own: what it tells depends on the analyst. Its search "
        "and its sums are those of AboveThreshold and Laplace; "
        "``test_exact_laws_of_all_neighbours`` and ``test_search_and_noise_follow_their_laws`` "
        "hold whole conversations to the claim."
    ),
    "sourdine.adaptive.query_server.guesses": (
        "Draws which rows guess and which check from their number alone; no row is handed to it."
    ),
    "sourdine.adaptive.robust.wrapper": (
        "Draws the seeds of the copies, and which copies are looked at, whatever they say; the "
        "look itself is `Exponential`."
    ),
    "sourdine.adaptive.sketches.f2": (
        "Hides a sketch's own random signs, not a person's record; what its noise is worth is "
        "counted in `sketches.f2`."
    ),
    "sourdine.local.rounds.respondent": (
        "Draws which column a person is asked for, before there are answers: "
        "``test_only_the_reports_depend_on_the_answers``. The answers are audited reports."
    ),
    "sourdine.local.spark.tasks": (
        "Draws in which order reports leave a task, whatever they hold: "
        "``test_neither_order_nor_file_tells_what_a_row_held``. The reports are audited."
    ),
    "sourdine.local.table.blocks": (
        "Draws which column a person is asked for, whatever the answers: "
        "``test_who_is_asked_what_does_not_depend_on_the_answers``. The answers are audited "
        "reports."
    ),
}
"""Modules that draw and hold no mechanism, each with the reason why nothing is left unaudited."""
NAMES = [s.name for s in registered()]
METHODS = {
    "quantiles": QUANTILES,
    "mean": MEANS,
    "density": DENSITIES,
    "number": NUMERIC,
    "category": CATEGORICAL,
}


def subclasses(kind):
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def strangers(exempt=EXEMPT):
    """Return the modules that draw noise for no audited mechanism and are not exempt."""
    reached = {type(s.make(s.epsilon)).__module__ for s in registered()}
    modules = discovery._modules()
    beside = {module.__name__: set(imported(module)) for module in modules}
    while more := {far for near in reached for far in beside.get(near, ())} - reached:
        reached |= more
    drawing = {module.__name__ for module in modules if draws(module)}
    return drawing - reached - exempt.keys()


def draws(module):
    """Return whether a module has a sampler at hand."""
    return any(
        thing is noise or (isfunction(thing) and thing.__module__.startswith("sourdine.noise."))
        for thing in vars(module).values()
    )


def imported(module):
    """Yield the modules of which a module has something at hand."""
    for thing in vars(module).values():
        yield thing.__name__ if ismodule(thing) else getattr(thing, "__module__", None) or ""


def whole_library():
    """Import every module; return the concrete mechanisms, found in another way."""
    for found in walk_packages(sourdine.__path__, "sourdine."):
        import_module(found.name)
    kinds = {(k.__module__, k.__qualname__): k for k in subclasses(Mechanism)}
    places = [(vars(import_module(m)), k) for (m, _), k in kinds.items() if "sourdine." in m]
    final = {space.get(k.__name__) for space, k in places if not k.__module__.startswith("tests")}
    return {k for k in final if k is not None and not getattr(k, "__abstractmethods__", None)}


def test_every_mechanism_is_audited():
    assert not unaudited(), [f"{k.__module__}.{k.__name__}" for k in unaudited()]


@pytest.mark.slow
def test_nothing_is_overlooked():
    """Nor in any other module of the library."""
    assert set(every_mechanism()) == whole_library()
    assert len(every_mechanism()) > 38
    named = {kind.__name__ for kind in every_mechanism()}
    assert named > {"JointExp", "Brackets", "Tree", "Anchors", "Hybrid", "RecExp", "IndExp"}
    assert named > {"GridMean", "NaiveGaussian", "NamedCounts", "Together", "NoisyCoefficients"}


def test_a_mechanism_without_a_specimen_is_named(monkeypatch):
    class Forgotten(Laplace):
        pass

    module = ModuleType("sourdine.mechanisms.forgotten")
    module.Forgotten = Forgotten
    Forgotten.__module__ = module.__name__
    monkeypatch.setattr(discovery, "_modules", lambda: (module,))
    assert unaudited() == (Forgotten,)


def test_whoever_draws_is_audited_or_has_a_reason():
    assert not strangers()


def test_a_module_that_draws_is_named(monkeypatch):
    module = ModuleType("sourdine.central.careless")
    module.discrete_laplace = noise.discrete_laplace
    every = (*discovery._modules(), module)
    monkeypatch.setattr(discovery, "_modules", lambda: every)
    assert strangers() == {"sourdine.central.careless"}


def test_no_exemption_is_left_over():
    assert strangers({}) == set(EXEMPT)
    assert all(len(reason) > 20 for reason in EXEMPT.values())


def test_every_protocol_draws_by_a_report():
    audited = {type(s.make(s.epsilon)) for s in registered()}
    rules = [
        protocol(bounds=(0, 1), epsilon=epsilon, n=n, method=method, loss=loss)
        for method in DENSITIES
        for loss in ("l2", "w1")
        for epsilon, n in ((1, 1000), (1, 10**5), (Fraction(3, 10), 1000), (5, 1000))
    ]
    for rule in rules:
        assert type(rule.report) in audited
        assert rule.report.guarantee == rule.guarantee, "what a density says of itself, it costs"
        assert rule.guarantee.epsilon == rule.epsilon
    concrete = {k for k in subclasses(DensityProtocol) if not k.__abstractmethods__}
    assert concrete >= {type(rule) for rule in rules}
    assert {k.__name__ for k in concrete if k.__module__.startswith("sourdine")} == {
        type(rule).__name__ for rule in rules
    }


@pytest.mark.slow
@pytest.mark.parametrize("first", ["sourdine.local", "sourdine.cli.app", "sourdine.noise"])
def test_the_list_does_not_depend_on_what_was_imported(first):
    told = (
        f"import {first}; from sourdine import audit; print(*(s.name for s in audit.registered()))"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", told], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == NAMES


def test_specimens_are_in_the_order_of_the_families():
    order = [list(FAMILIES).index(name.split(".")[0]) for name in NAMES]
    assert order == sorted(order)
    assert len(set(NAMES)) == len(NAMES) > 60


# Addresses


@pytest.mark.parametrize("family", METHODS)
def test_what_a_person_types_is_an_address(family):
    for method in METHODS[family]:
        if method != "auto":
            assert chosen([f"{family}.{method}"]), method


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_has_an_address(statistic):
    assert chosen([statistic])


def test_the_hybrid_of_quantiles_is_that_of_quantiles():
    kinds = {type(s.make(s.epsilon)) for s in chosen(["quantiles.hybrid"])}
    assert [kind.__module__ for kind in kinds] == ["sourdine.central.quantiles.levels"]
    (report,) = chosen(["number.hybrid"])
    assert type(report.make(1)).__module__ == "sourdine.local.numeric.duchi"


def test_a_beginning_means_all_below_it():
    assert len(chosen(["quantiles"])) > 20
    assert {s.name for s in chosen(["quantiles.joint"])} == {
        "quantiles.joint.add_remove",
        "quantiles.joint.substitute",
        "quantiles.joint.brackets.add_remove",
        "quantiles.joint.brackets.substitute",
    }
    assert chosen([]) == registered()
    assert chosen(["median.hybrid"]) == chosen(["quantiles.hybrid"])
    assert chosen(["number.square_wave"]) == chosen(["number.square-wave", "density.square-wave"])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hybrid", "Did you mean quantiles.hybrid or number.hybrid?"),
        ("quantiles.hybird", "quantiles.hybrid"),
        ("quantil.tree", "quantiles.tree"),
        ("quantil", "quantiles"),
        ("Laplase", "noise.laplace"),
        ("zzz", "Addresses begin with noise, choice, sample"),
    ],
)
def test_an_unknown_name_is_told_what_may_be_meant(typed, meant):
    with pytest.raises(ParameterError, match="mechanism must be an address") as error:
        chosen([typed])
    assert meant in str(error.value)


@pytest.mark.parametrize("name", ["laplace", "elsewhere.laplace", "noise.", "noise.Laplace"])
def test_a_specimen_without_an_address_is_refused(name):
    with pytest.raises(ParameterError, match=r"name must be of the form family\.method"):
        register(Specimen(name=name, make=Laplace, inputs=(0,), tight=True))
    with pytest.raises(ParameterError, match="name must be new"):
        register(registered()[0])


# What the specimens say of themselves


def test_weaker_copies_than_usual_are_few_and_explained():
    """Everything else is caught 5% too weak."""
    late = {s.name: float(s.weaker) for s in registered() if s.weaker > 1.05}
    assert sorted(late) == [
        "noise.gaussian.vector",
        "quantiles.hybrid.substitute",
        "quantiles.joint.brackets.substitute",
        "quantiles.levels.substitute",
        "quantiles.recursive.substitute",
        "regression.gaussian",
    ]
    assert late.pop("quantiles.levels.substitute") == 2.4
    assert max(late.values()) < 1.7


def test_who_is_asked_what_does_not_depend_on_the_answers():
    schema = local.Schema(
        a=local.Number(0, 9, step=1), b=local.Choice("yes", "no"), epsilon=1, method="sample",
        missing="random",
    )  # fmt: skip
    rows = [{"a": [x] * 500, "b": [y] * 500} for x, y in ((0, "yes"), (9, "no"))]
    one, two = (next(schema.randomised(r, use="table", source=SeededSource(3))) for r in rows)
    assert one.asked.tolist() == two.asked.tolist()
    assert 100 < one.asked.sum() < 400


def test_no_specimen_is_written_twice():
    """Two addresses never lead to the same mechanism at the same setting."""
    made = [(str(s.make(s.epsilon)), s.inputs, s.make(s.epsilon).guarantee) for s in registered()]
    assert len({repr(one) for one in made}) == len(made)
