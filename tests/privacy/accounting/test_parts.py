"""Parts: exact, written down and read back; prices just above the truth."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import SUBSTITUTE, Guarantee
from sourdine.privacy.accounting import Part
from sourdine.privacy.accounting.parts import on_sample, plain, replaced

F = Fraction
PARTS = [
    Part.pure(0.1),
    Part.pure(F(7, 3), times=5),
    Part.range(0.05),
    Part.range(4),
    Part.laplace(1, 10),
    Part.laplace(7, F(3, 2), times=2),
    Part.laplace(10**6, 10**7),
    Part.gaussian(2, 40),
    Part.concentrated(0.02, times=3),
    Part.response(1, 2),
    Part.response(1, 16),
    Part.sampled(Part.pure(1), 0.1),
    Part.sampled(Part.laplace(3, 2), 0.4),
    Part.sampled(Part.range(1), 0.1),
    Part.sampled(Part.response(2, 5), 0.25),
    Part.sampled(Part.gaussian(1, 4), 0.05),
    Part.delta(1e-6),
]
ORDERS = [F(5, 4), F(3), F(37, 4), F(61)]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_part_is_written_and_read(part):
    assert Part.from_dict(json.loads(json.dumps(part.to_dict()))) == part
    assert hash(part) == hash(Part.from_dict(part.to_dict()))


def real(x):
    return mpmath.mpf(x.numerator) / x.denominator


def atoms(part, offset=0.5):
    """Return the losses and masses of one draw, to 60 digits; those of a range at an offset."""
    exp, size = mpmath.exp, real(part.size)
    if part.kind == "pure":
        return [(size, 1 / (1 + exp(-size))), (-size, 1 / (1 + exp(size)))]
    if part.kind == "range":
        top = exp(size * offset)
        p = (exp(size) - top) / (exp(size) - 1)
        return [(mpmath.log(top), p), (mpmath.log(top) - size, 1 - p)]
    if part.kind == "response":
        q = 1 / (exp(size) + part.count - 1)
        return [(size, exp(size) * q), (mpmath.mpf(0), (part.count - 2) * q), (-size, q)]
    if part.kind == "laplace":
        weight = (1 - exp(-1 / size)) / (1 + exp(-1 / size))
        inner = [
            ((part.count - 2 * k) / size, weight * exp(-k / size)) for k in range(1, part.count)
        ]
        end = 1 / (1 + exp(-1 / size))
        whole = part.count / size
        return [(whole, end), *inner, (-whole, exp(-whole) * end)]
    if part.kind == "gaussian":
        reach = int(60 * mpmath.sqrt(size)) + part.count
        weights = {k: exp(-(k**2) / (2 * size)) for k in range(-reach, reach + 1)}
        total = sum(weights.values())
        return [
            ((part.count**2 - 2 * k * part.count) / (2 * size), w / total)
            for k, w in weights.items()
        ]
    raise AssertionError(part.kind)


def divergence(part, a):
    """Return the exact divergence of one draw, the larger of both directions."""
    if part.kind == "range":
        return max(_divergence(atoms(part, i / 64), a) for i in range(1, 64))
    if part.kind == "concentrated":
        return a * real(part.size)
    if part.kind != "sampled":
        return _divergence(atoms(part), a)
    q, found = real(part.size), []
    for i in range(1, 16) if part.of.kind == "range" else [8]:
        pairs = [
            (1 - q + q * mpmath.exp(loss), p * mpmath.exp(-loss))
            for loss, p in atoms(part.of, i / 16)
        ]
        found += [mpmath.log(sum(m * r**a for r, m in pairs)) / (a - 1)]
        found += [mpmath.log(sum(m * r ** (1 - a) for r, m in pairs)) / (a - 1)]
    return max(found)


def _divergence(pairs, a):
    return mpmath.log(sum(p * mpmath.exp((a - 1) * loss) for loss, p in pairs)) / (a - 1)


SMALL = [p for p in PARTS if p.count < 1000 and p.kind != "delta"]
EXACT = {"pure", "laplace", "response", "concentrated"}


@pytest.mark.parametrize("part", SMALL, ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_prices_are_just_above_the_truth(part, order):
    with mpmath.workdps(60):
        truth = part.times * divergence(part, real(order))
        price = real(part.price(order))
        assert truth <= price + mpmath.mpf(10) ** -50
        if part.kind in EXACT or (part.kind == "sampled" and part.of.kind == "pure"):
            assert price <= truth + part.times * mpmath.mpf(2) ** -62
        assert price <= truth * (3 if part.kind == "sampled" else mpmath.mpf("1.01"))


def test_prices_never_exceed_plain_epsilon_and_rho():
    for part in PARTS:
        for order in ORDERS:
            tick = part.times * F(1, 2**60)
            assert part.price(order) <= order * part.rho + tick
            if part.epsilon is not None:
                assert part.price(order) <= part.epsilon + tick


def test_a_large_shift_is_the_continuous_law():
    fine = Part.laplace(10**6, 10**7).price(9)
    assert fine < Part.laplace(1000, 10**4).price(9) < Part.laplace(1, 10).price(9)
    with mpmath.workdps(40):
        a, e = mpmath.mpf(9), mpmath.mpf("0.1")
        grown = a * mpmath.exp((a - 1) * e) + (a - 1) * mpmath.exp(-a * e)
        assert abs(mpmath.log(grown / (2 * a - 1)) / (a - 1) - real(fine)) < 1e-13


def test_plain_sums():
    assert plain([Part.pure(0.1, 3), Part.laplace(2, 10), Part.range(0.5)]) == (1, 0)
    assert plain(Part.delta(0.6, times=2)) == (0, 1)
    sampled = Part.sampled(Part.pure(1), 0.5, times=2).epsilon
    assert float(sampled / 2) == pytest.approx(0.6201145069582775, abs=1e-15)


def test_what_shares_a_sample_is_one_part():
    assert on_sample([Part.pure(1, times=2)], 0.5) == (Part.sampled(Part.pure(2), 0.5),)
    assert on_sample([Part.gaussian(1, 2), Part.pure(1)], 0.5) == (
        Part.sampled(Part.concentrated(F(3, 4)), 0.5),
    )
    assert on_sample([Part.pure(1), Part.delta(0.1)], 0.5) == (
        Part.sampled(Part.pure(1), 0.5),
        Part.delta(0.05),
    )
    assert Part.sampled(Part.sampled(Part.pure(1), 0.5), 0.5) == Part.sampled(Part.pure(1), 0.25)
    assert Part.sampled(Part.pure(1), 1) == Part.pure(1)
    assert on_sample(Part.delta(0.1), 0.5) == (Part.delta(0.05),)


def test_replacement_doubles():
    assert replaced(Part.pure(1, times=4)) == (Part.pure(2, times=4),)
    assert replaced(Part.gaussian(1, 9)) == (Part.gaussian(2, 9),)
    assert replaced(Part.concentrated(1)) == (Part.concentrated(4),)
    assert replaced(Part.response(1, 5)) == (Part.pure(2),)
    (pure, delta) = replaced([Part.range(0.5, times=2), Part.delta(1e-6)])
    twice = Guarantee(1, 1e-6).under(SUBSTITUTE)
    assert (pure.epsilon, delta.size) == (twice.epsilon, twice.delta)
    assert replaced(Part.delta(0.1)) == (Part.delta(0.2),)
    for parts in ([Part.gaussian(1, 1), Part.delta(0.1)], Part.sampled(Part.gaussian(1, 1), 0.1)):
        with pytest.raises(ParameterError, match="Use the parts of the mechanism"):
            replaced(parts)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Part.pure(0), ParameterError),
        (lambda: Part.laplace(1.5, 1), ParameterTypeError),
        (lambda: Part.response(1, 1), ParameterError),
        (lambda: Part.sampled(Part.pure(1, times=2), 0.1), ParameterTypeError),
        (lambda: Part.sampled(Part.pure(1), 0), ParameterError),
        (lambda: Part.pure(1).price(1), ParameterError),
        (lambda: Part.pure(1, times=0), ParameterError),
        (lambda: plain([Guarantee(1)]), ParameterTypeError),
        (lambda: Part.from_dict({"kind": "pure", "epsilon": 0.1}), ParameterError),
        (lambda: Part.from_dict({"kind": "pure", "epsilon": "1", "shift": 3}), ParameterError),
        (lambda: Part.from_dict({"kind": "purer", "epsilon": "1"}), ParameterError),
    ],
)
def test_what_is_no_part_is_refused(call, error):
    with pytest.raises(error):
        call()
