"""What a notebook shows: a real one is run, by a real kernel."""

from __future__ import annotations

import os
import sys
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import sourdine

pytestmark = pytest.mark.slow

CELLS = {
    "data": """
import numpy as np
import sourdine as sd
from sourdine.adaptive import GuardedHoldout, advise
rng = np.random.default_rng(1)
ages = rng.integers(18, 90, 5000).tolist()
sex = rng.choice(["f", "m"], 5000).tolist()
r = sd.mean({"age": ages, "sex": sex}, column="age", by="sex", keys=["f", "m"],
            bounds=(0, 120), step=1, epsilon=1)
""",
    "release": "r",
    "plot": "r.plot()",
    "frame": "r.to_frame()",
    "session": """
session = sd.Session({"age": ages}, epsilon=1)
session.median(column="age", bounds=(0, 120), step=1, epsilon=0.5)
session
""",
    "history": "session.history",
    "plan": "sd.plan.mean(n=5000, bounds=(0, 120), error=0.5)",
    "schema": """
schema = sd.local.Schema(
    age=sd.local.Number(0, 120, step=1), sex=sd.local.Choice("f", "m"), epsilon=4, missing="random")
schema
""",
    "estimates": """
estimates = schema.estimate(schema.sanitize({"age": ages, "sex": sex}))
estimates
""",
    "estimates plot": "estimates.plot()",
    "density": "sd.local.density(ages, bounds=(0, 120), epsilon=1)",
    "verdict": """
labels = [0, 1] * 500
guard = GuardedHoldout(labels, baseline=[0] * 1000, error=0.1)
guard.confirm(labels)
""",
    "certificate": "guard.certificate()",
    "guard history": "guard.history",
    "advice": "advise('distinct', 'insertions')",
    "guarantee": "r.cost",
}
"""What is typed, by what the output is."""
PLOTS = ("plot", "estimates plot")
TABLES = tuple(name for name in CELLS if name not in (*PLOTS, "data"))
WORDS = {
    "release": ("<th>95% CI</th>", "<td>f</td>", "epsilon 1"),
    "session": ("median of age", "remaining: epsilon 0.5"),
    "history": ("median of age", "<th>epsilon</th>"),
    "plan": ("<th>epsilon</th>", "error (95%)"),
    "schema": ("<td>age</td>", "SlidingWindow", "epsilon 4"),
    "estimates": ("quartiles", "<td>sex</td>"),
    "density": ("<th>share</th>",),
    "verdict": ("<th>verdict</th><td>confirmed</td>", "more answer"),
    "certificate": ("<th>proved</th>", "bits told"),
    "guard history": ("<td>confirm</td>",),
    "advice": ("<th>memory</th>",),
    "guarantee": ("epsilon 1, one record added or removed",),
}
"""What the tables say, among others."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run the notebook and return the data of each cell's output, by name."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    path = os.pathsep.join((str(Path(sourdine.__file__).parents[1]), *sys.path))
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    folder = tmp_path_factory.mktemp("notebook")
    client.execute(env={**os.environ, "PYTHONPATH": path, "IPYTHONDIR": str(folder)})
    return {
        name: [output.get("data") for output in cell.outputs]
        for name, cell in zip(CELLS, notebook.cells, strict=True)
    }


def test_nothing_is_printed_by_the_way(shown):
    assert shown["data"] == []
    assert all(len(shown[name]) == 1 for name in CELLS if name != "data")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_shown_as_html(shown, name):
    (data,) = shown[name]
    assert "text/html" in data
    for words in WORDS.get(name, ()):
        assert words in data["text/html"]
    assert data["text/plain"].count("\n") == 0 or name == "frame"


@pytest.mark.parametrize("name", PLOTS)
def test_a_picture_is_shown_without_any_magic(shown, name, tmp_path):
    (data,) = shown[name]
    picture = b64decode(data["image/png"])
    assert picture.startswith(b"\x89PNG\r\n")
    assert len(picture) > 5000
    (tmp_path / "picture.png").write_bytes(picture)
