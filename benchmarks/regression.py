"""Regression: how often intervals hold, and how far coefficients are off beside two peers.

Run ``python benchmarks/regression.py`` for the coverage of intervals over real and made designs
(``--runs 50`` for a rough look, ``--design plain`` for some of them), and ``python
benchmarks/regression.py --peers`` for the errors of coefficients, also with bounds that are found,
beside those of diffprivlib and of AdaSSP on the same data; diffprivlib must be installed for that,
as ``make bench`` does. Both write a Markdown copy of their table into ``benchmarks/out``.
Real data are read from the folder that SOURDINE_DATA names, or from
``../shared/data`` beside the repository; what is not there is left out and said. The exit status is
1 if a promise is missed: intervals hold in at least 95% of runs (less four standard errors), and
median errors are at most those of the peers.

AdaSSP is algorithm 2 of Y.-X. Wang, "Revisiting differentially private linear regression", UAI
2018, at delta 1e-6, with predictors and response scaled to [-1, 1]. It protects the same as our
answer: one record added or removed. diffprivlib takes the number of records for public, and its
noise on sums of squares is scaled to one of the two bounds only, which favours it.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sourdine.central import Regression

Floats = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SOURDINE_DATA", HERE.parents[1] / "shared" / "data"))
OUT = HERE / "out"
DELTA, RHO = 1e-6, 0.05
Design = tuple[Floats, list[tuple[float, float]]]
"""Columns, the response last, and the public bounds of each."""


# ---- Designs -------------------------------------------------------------------------------------


def real() -> dict[str, Design]:
    """Return the real designs that are at hand."""
    import pandas as pd

    cps = pd.read_csv(HERE / "data" / "cps_people.csv.gz")
    wage, age, size = (cps[c].to_numpy(float) for c in ("wage", "age", "household"))
    bounds = [(15.0, 90.0), (1.0, 10.0), (0.0, 150_000.0)]
    found = {
        "CPS: wage on age": (np.column_stack((age, wage)), [bounds[0], bounds[2]]),
        "CPS: wage on age, household": (np.column_stack((age, size, wage)), bounds),
    }
    if (path := SHARED / "adult_all.csv.gz").exists():
        adult = pd.read_csv(path)
        age, school, hours = (
            adult[c].to_numpy(float) for c in ("age", "education-num", "hours-per-week")
        )
        found["Adult: hours on age"] = np.column_stack((age, hours)), [(15, 95), (0, 100)]
        found["Adult: hours on age, education"] = (
            np.column_stack((age, school, hours)), [(15, 95), (1, 16), (0, 100)],
        )  # fmt: skip
    if (path := SHARED / "diabetes.csv").exists():
        pima = pd.read_csv(path)
        own = pima[["BMI", "Age", "Glucose"]].to_numpy(float)
        found["Pima: glucose on BMI"] = own[:, [0, 2]], [(10, 70), (0, 250)]
    if (path := SHARED / "nyc_payroll_fy2016_sample_nonames.csv.gz").exists():
        pay = pd.read_csv(path)[["BaseSalary", "RegularGrossPaid"]].dropna().to_numpy(float)
        found["New York: pay on salary"] = pay, [(0, 250_000), (0, 250_000)]
    return found


def made(rng: np.random.Generator) -> dict[str, Design]:
    """Return populations with what makes a regression hard."""
    n, unit = 200_000, (-1.0, 1.0)
    u, v, e = rng.uniform(-0.8, 0.8, n), rng.uniform(-0.8, 0.8, n), rng.normal(size=n)

    def whole(*columns: Floats) -> Design:
        return np.clip(np.column_stack(columns), -1, 1), [unit] * len(columns)

    near = 0.7 * u + 0.7 * v
    return {
        "made: plain": whole(u, 0.4 * u + 0.2 * e),
        "made: two correlated predictors": whole(u, near, 0.4 * u - 0.2 * near + 0.2 * e),
        "made: three predictors": whole(u, v, rng.uniform(-1, 1, n), 0.3 * u - 0.3 * v + 0.2 * e),
        "made: errors spread with u squared": whole(u, 0.3 * u + 0.5 * u * u * e),
        "made: heavy tails": whole(u, 0.3 * u + 0.05 * rng.standard_t(1.5, n)),
        "made: not linear": whole(u, u * u - 0.4 + 0.1 * e),
        "made: no slope": whole(u, 0.3 * e),
        "made: nearly collinear": whole(u, u + 0.02 * v, 0.4 * u + 0.2 * e),
        "made: constant predictor": whole(np.full(n, 0.3), 0.2 * e),
        "made: few far out": whole(
            np.where(rng.random(n) < 0.02, 0.9, 0.02 * u), 0.2 * e + 0.3 * u
        ),
    }


def least_squares(data: Floats) -> Floats:
    a = np.column_stack((np.ones(len(data)), data[:, :-1]))
    return np.asarray(np.linalg.lstsq(a, data[:, -1], rcond=None)[0])


def asked(bounds: list[Any], epsilon: float, **more: Any) -> Regression:
    names = [f"x{j}" for j in range(len(bounds) - 1)]
    every = dict(zip([*names, "y"], bounds, strict=True))
    return Regression(y="y", x=names, bounds=every, epsilon=epsilon, **more)


def snapped(question: Regression, data: Floats) -> Floats:
    """Return the values on the question's grids."""
    columns = [grid.values(grid.ticks(c)) for grid, c in zip(question.grids, data.T, strict=True)]
    return np.column_stack([np.asarray(c, float) for c in columns])


def as_frame(question: Regression, data: Floats) -> dict[str, Floats]:
    return dict(zip(question.variables, data.T, strict=True))


# ---- How often intervals hold --------------------------------------------------------------------


def covered(design: Design, n: int, epsilon: float, runs: int, rng: np.random.Generator) -> Any:
    """Return for each kind of interval: how often each coefficient was held, and widths."""
    data, bounds = design
    question = asked(bounds, epsilon)
    law = least_squares(snapped(question, data))
    singular = np.ptp(data[:, 0]) == 0
    hits = {"sample": np.zeros(len(bounds)), "population": np.zeros(len(bounds))}
    widths: dict[str, list[Floats]] = {of: [] for of in hits}
    for _ in range(runs):
        own = data[rng.integers(0, len(data), n)]
        release = question.release(as_frame(question, own))
        truth = {"sample": least_squares(snapped(question, own)), "population": law}
        for of, true in truth.items():
            ends = np.array(list(release.interval(0.95, of=of).values()), float)
            held = (ends[:, 0] <= true) & (true <= ends[:, 1])
            hits[of] += np.isinf(ends).all() if singular else held
            widths[of].append(ends[:, 1] - ends[:, 0])
    return {of: (hits[of] / runs, np.median(np.array(widths[of]), axis=0)) for of in hits}


def coverage(runs: int, seed: int, named: list[str]) -> bool:
    """Write the table of coverage; return whether every promise was kept."""
    rng = np.random.default_rng(seed)
    designs = {**real(), **made(rng)}
    if named:
        designs = {name: own for name, own in designs.items() if any(x in name for x in named)}
    least, kept = 0.95 - 4 * sqrt(0.95 * 0.05 / runs), True
    heads = ("design", "n", "epsilon", "sample", "population", "slope's width", "of a population")
    lines = []
    for name, design in designs.items():
        for n, epsilon in ((200, 1), (2_000, 1), (20_000, 0.5)):
            size = min(n, 768) if name.startswith("Pima") else n
            found = covered(design, size, epsilon, runs, rng)
            (sample, w), (population, p) = found["sample"], found["population"]
            kept &= sample.min() >= least and population.min() >= least
            lines.append(
                (name, f"{size:,}", f"{epsilon:g}", f"{100 * sample.min():.1f}%",
                 f"{100 * population.min():.1f}%", f"{w[1]:.3g}", f"{p[1]:.3g}")
            )  # fmt: skip
            print(*lines[-1], sep="\t", flush=True)
    note = (
        f"The part of {runs} runs in which the 95% interval holds the truth, of the coefficient "
        "for which that is least, and the median width of the first slope's interval."
    )
    write("regression-coverage", heads, lines, note)
    return bool(kept)


# ---- Beside peers --------------------------------------------------------------------------------


def adassp(u: Floats, v: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    """Return AdaSSP's coefficients of predictors and a response within -1 and 1."""
    x = np.column_stack((np.ones(len(u)), u))
    d = x.shape[1]
    size, part, logs = float(d), epsilon / 3, log(6 / DELTA)
    noise = sqrt(logs) / part
    least = float(np.linalg.eigvalsh(x.T @ x)[0])
    least = max(least + noise * size * rng.normal() - logs / part * size, 0.0)
    ridge = max(sqrt(d * logs * log(2 * d * d / RHO)) * size / part - least, 0.0)
    upper = np.triu(rng.normal(size=(d, d)))
    square = x.T @ x + noise * size * (upper + np.triu(upper, 1).T)
    product = x.T @ v + noise * sqrt(size) * rng.normal(size=d)
    return np.asarray(np.linalg.solve(square + ridge * np.eye(d), product))


def functional(u: Floats, v: Floats, epsilon: float, seed: int) -> Floats:
    """Return diffprivlib's coefficients."""
    from diffprivlib.models import LinearRegression

    p = u.shape[1]
    model = LinearRegression(
        epsilon=epsilon, bounds_X=([-1.0] * p, [1.0] * p), bounds_y=(-1.0, 1.0), random_state=seed
    )
    model.fit(u, v)
    return np.append(np.ravel(model.intercept_), np.ravel(model.coef_))


def beside(runs: int, seed: int) -> bool:
    """Write the table of errors; return whether ours are at most those of the peers."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    heads = (
        "data", "n", "epsilon", "ours", "ours, Gaussian", "ours, bounds found", "AdaSSP",
        "diffprivlib",
    )  # fmt: skip
    lines, kept = [], True
    for name, (data, bounds) in real().items():
        if not name.startswith(("CPS", "Adult")):
            continue
        low, high = np.array(bounds, float).T
        scaled = 2 * (np.clip(data, low, high) - low) / (high - low) - 1
        truth = least_squares(scaled)[1:]
        for epsilon in (0.5, 1, 2):
            errors: dict[str, list[float]] = {head: [] for head in heads[3:]}
            for i in range(runs):
                own = {
                    "ours": asked([(-1.0, 1.0)] * len(bounds), epsilon),
                    "ours, Gaussian": asked(
                        [(-1.0, 1.0)] * len(bounds), epsilon, method="gaussian", delta=DELTA
                    ),
                    "ours, bounds found": asked(["find"] * len(bounds), epsilon),
                }
                found = {
                    how: np.array(list(q.release(as_frame(q, scaled)).value.values()))
                    for how, q in own.items()
                }
                found["AdaSSP"] = adassp(scaled[:, :-1], scaled[:, -1], epsilon, rng)
                found["diffprivlib"] = functional(
                    scaled[:, :-1], scaled[:, -1], epsilon, seed * 1000 + i
                )
                for how, got in found.items():
                    errors[how].append(float(np.median(np.abs(got[1:] / truth - 1))))
            medians = {how: float(np.median(e)) for how, e in errors.items()}
            kept &= medians["ours"] <= min(medians["AdaSSP"], medians["diffprivlib"])
            shown = (f"{100 * medians[how]:.3g}%" for how in heads[3:])
            lines.append((name, f"{len(data):,}", f"{epsilon:g}", *shown))
            print(*lines[-1], sep="\t", flush=True)
    note = (
        f"Median relative error of the slopes beside the least squares of the same {runs} times "
        "asked data."
    )
    write("regression-peers", heads, lines, note)
    return bool(kept)


def write(name: str, heads: tuple[str, ...], lines: list[tuple[str, ...]], note: str) -> None:
    """Write a table as Markdown."""
    OUT.mkdir(exist_ok=True)
    rows = [heads, ("---",) * len(heads), *lines]
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    (OUT / f"{name}.md").write_text(f"{text}\n\n{note}\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--design", action="append", default=[], help="part of a design's name")
    typed = parser.parse_args()
    if typed.peers:
        return 0 if beside(typed.runs, typed.seed) else 1
    return 0 if coverage(typed.runs, typed.seed, typed.design) else 1


if __name__ == "__main__":
    sys.exit(main())
