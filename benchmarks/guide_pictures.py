"""Draw pictures of guides: formulas, look-ups, SQL, people, weights, regression, files, clients.

Run ``python benchmarks/guide_pictures.py [NAME ...]``; it writes to ``docs/images``. All are of
real wages (``benchmarks/data``), but for ``people``, which is of made visits. For ``files`` the
wages are written as a file of Stata. ``clients`` is drawn by R, from a server on this machine; it
needs Rscript with the packages httr2 and jsonlite.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

import sourdine as sd
from sourdine.privacy import Guarantee
from sourdine.server.auth import new_token
from sourdine.server.datasets import read_columns
from sourdine.server.running import serving
from sourdine.server.state import ServerSettings
from sourdine.server.store.base import Dataset, Person
from sourdine.server.store.store import ServerStore
from sourdine.session import Terms

if TYPE_CHECKING:
    from sourdine.results.release import Release

mpl.use("Agg")

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PEOPLE = str(ROOT / "benchmarks" / "data" / "cps_people.csv.gz")
DECADES = [20, 30, 40, 50, 60]
AGES = ["20 to 39", "40 to 59", "60 to 79"]
BORN = {
    "Silent": range(1928, 1946),
    "Boomers": range(1946, 1965),
    "Generation X": range(1965, 1981),
    "Millennials": range(1981, 1997),
}


def formulas() -> Release:
    return sd.mean(
        PEOPLE,
        column="wage / household",
        where="age between 20 and 69",
        by="age // 10 * 10",
        keys=DECADES,
        bounds=(0, 150_000),
        epsilon=0.5,
    )


def lookup() -> Release:
    """Write the public table of generations, and release their mean wages."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "generations.csv"
        rows = [f"{2014 - year},{name}" for name, years in BORN.items() for year in years]
        table.write_text("\n".join(["age,generation", *rows]) + "\n")
        return sd.mean(
            PEOPLE,
            column="wage",
            lookup={str(table): "age"},
            by="generation",
            keys=list(BORN),
            bounds=(0, 150_000),
            epsilon=0.5,
        )


def sql() -> Release:
    return sd.sql(
        PEOPLE,
        "SELECT age // 10 * 10 AS decade, AVG(wage) AS mean, MEDIAN(wage) AS median FROM people "
        "WHERE age // 10 * 10 IN (20, 30, 40, 50, 60) GROUP BY age // 10 * 10",
        bounds={"wage": (0, 200_000)},
        epsilon=1,
    )


def people() -> Release:
    rows = np.random.default_rng(3).poisson(3, 5000) + 1
    visits = {"patient": np.repeat(np.arange(rows.size), rows).tolist()}
    return sd.histogram(
        visits,
        unit="patient",
        per_person="count",
        bins=list(range(1, 12)),
        epsilon=0.1,
    )


def weights() -> Release:
    return sd.histogram(
        PEOPLE,
        column="wage",
        bins=list(range(0, 110_000, 10_000)),
        weights="household",
        weight_bounds=(0, 8),
        epsilon=0.2,
    )


def regression() -> Release:
    return sd.regression(
        PEOPLE,
        y="wage",
        x="age",
        where="age between 20 and 65",
        bounds={"age": (20, 65), "wage": (0, 150_000)},
        epsilon=0.1,
    )


def files() -> Release:
    """Write a file of Stata, and release how its wages are distributed."""
    import pandas as pd
    import pyreadstat

    with TemporaryDirectory() as folder:
        path = f"{folder}/people.dta"
        table = pd.read_csv(PEOPLE)
        table["group"] = pd.cut(table["age"], [19, 39, 59, 79], labels=AGES).astype(str)
        pyreadstat.write_dta(table, path)
        return sd.cdf(
            path,
            column="wage",
            by="group",
            keys=AGES,
            bounds=(0, 150_000),
            step=1000,
            epsilon=1,
        )


TITLES = {
    formulas: "Mean wage per member of the household, by decade of age",
    lookup: "Mean wage by generation, which a public table knows by age",
    sql: "Mean and median wage by decade of age, from one SELECT",
    people: "Patients by their number of visits",
    weights: "Members of households by the wage that they live on",
    regression: "Wage by age, from 20 to 65",
    files: "Distribution of wages by age, of a file of Stata",
}


def clients() -> None:
    """Serve the wages on loopback, and let R ask for deciles and draw them."""
    program = shutil.which("Rscript")
    if program is None:
        sys.exit("Rscript was not found.")
    with TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/store.db"
        store = ServerStore.create(address)
        known = json.dumps(read_columns({"wage": {"bounds": [0, 150_000]}}))
        terms = Terms(total=Guarantee(1))
        store.datasets.add(
            Dataset(name="people", terms=terms, source=PEOPLE, columns=known, n_about=40_000)
        )
        store.people.add(Person(name="anna", role="analyst"))
        store.grants.give("people", "anna", 1)
        token = new_token(store, "anna", "api", days=1)
        with serving(ServerSettings(store=address, folder="/", tick=0)) as url:
            drawing = ROOT / "benchmarks" / "guide_picture.R"
            client = ROOT / "clients" / "r" / "sourdine.R"
            subprocess.run(  # noqa: S603
                [program, drawing, client, url, token, IMAGES / "clients.png"], check=True
            )
        store.close()


def main(names: list[str]) -> None:
    """Release and draw; the noise is fresh each time."""
    for ask, title in TITLES.items():
        if not names or ask.__name__ in names:
            ask().plot(path=str(IMAGES / f"{ask.__name__}.png"), title=title)
    if not names or "clients" in names:
        clients()


if __name__ == "__main__":
    main(sys.argv[1:])
