"""Draw the pictures of four guides: formulas, SQL, one value for each person, and weights.

Run ``python benchmarks/guide_pictures.py``; it writes to ``docs/images``. The first, second and
fourth are of real wages (``benchmarks/data``), the third of made visits.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import sourdine as sd

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
PEOPLE = str(ROOT / "benchmarks" / "data" / "cps_people.csv.gz")
DECADES = [20, 30, 40, 50, 60]


def main() -> None:
    """Release and draw; the noise is fresh each time."""
    each = sd.mean(
        PEOPLE,
        column="wage / household",
        where="age between 20 and 69",
        by="age // 10 * 10",
        keys=DECADES,
        bounds=(0, 150_000),
        epsilon=0.5,
    )
    told = sd.sql(
        PEOPLE,
        "SELECT age // 10 * 10 AS decade, AVG(wage) AS mean, MEDIAN(wage) AS median FROM people "
        "WHERE age // 10 * 10 IN (20, 30, 40, 50, 60) GROUP BY age // 10 * 10",
        bounds={"wage": (0, 200_000)},
        epsilon=1,
    )
    rows = np.random.default_rng(3).poisson(3, 5000) + 1
    visits = {"patient": np.repeat(np.arange(rows.size), rows).tolist()}
    often = sd.histogram(
        visits,
        unit="patient",
        per_person="count",
        bins=list(range(1, 12)),
        epsilon=0.1,
    )
    heavy = sd.histogram(
        PEOPLE,
        column="wage",
        bins=list(range(0, 110_000, 10_000)),
        weights="household",
        weight_bounds=(0, 8),
        epsilon=0.2,
    )
    drawn = {
        "formulas": (each, "Mean wage per member of the household, by decade of age"),
        "sql": (told, "Mean and median wage by decade of age, from one SELECT"),
        "people": (often, "Patients by their number of visits"),
        "weights": (heavy, "Members of households by the wage that they live on"),
    }
    for name, (release, title) in drawn.items():
        release.plot(path=str(ROOT / "docs" / "images" / f"{name}.png"), title=title)


if __name__ == "__main__":
    main()
