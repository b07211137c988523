"""Write one file of each stored format; ``golden/test_formats.py`` reads those of version 0.1.0.

``python tests/golden_formats.py FOLDER`` writes them into an empty folder. The files in
``golden/formats`` stay as they are: a new format gets a new folder.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import numpy as np

import sourdine as sd
from golden_recording import DATA, fixed_randomness
from serving import Api, data_file, filled_store, served
from sourdine.adaptive import GuardedHoldout
from sourdine.local import Aggregator, Choice, Number, Schema
from sourdine.local.reports.records import to_lines
from sourdine.privacy import Guarantee
from sourdine.session import Terms
from sourdine.survey import Survey
from sourdine.survey.document import SKELETON
from sourdine.survey.store import Posted, SurveyStore


def write(folder: Path) -> None:
    """Write a ledger, its report, a server's store, a guard, an aggregate and a survey's store."""
    told: dict[str, object] = {}
    with fixed_randomness("formats"):
        session = sd.Session(DATA, epsilon=3, delta=1e-6, ledger=folder / "people.ledger")
        mean = session.mean(column="age", bounds=(0, 120), step=1, epsilon=1)
        session.median(column="age", bounds=(0, 120), step=1, epsilon=0.5)
        told["spent"] = str(session.spent.epsilon)
        (folder / "mean.json").write_text(mean.to_json())
        told["mean"] = [mean.value, *mean.interval(0.95)]
        session.report(about={"title": "Ages", "purpose": "Planning"}).write(folder / "report.json")

        guard = GuardedHoldout.create(folder / "labels.guard", [0, 1] * 100)
        told["score"] = guard.score([0, 1, 1, 1] * 50).value
        told["bits"] = guard.bits

        schema = Schema(
            age=Number(0, 120, 1), region=Choice("f", "m", "x"), epsilon=2, missing="random"
        )
        counted = Aggregator(schema)
        counted.add([line for part in schema.reports(DATA) for line in to_lines(part)])
        schema.write(folder / "schema.toml")
        counted.save(folder / "counted.npz")
        told["shares"] = np.asarray(counted.estimate()["region"]).tolist()

        survey = Survey.from_facts(tomllib.loads(SKELETON))
        store, _ = SurveyStore.create(folder / "survey.db", survey)
        answers = {"way": "bus", "minutes": 35, "late": True, "wishes": "shade"}
        lines = [line.encode() for _ in range(40) for part in survey.schema.reports(answers)
                 for line in to_lines(part)]  # fmt: skip
        store.accept([Posted(lines=lines)])
        store.fold()
        told["people"] = store.people
        told["ways"] = np.asarray(store.estimates()["way"]).tolist()
        store.close()

    data = Path("/tmp/sourdine-formats")  # noqa: S108 - a name that the store keeps
    data.mkdir()
    path, address = data_file(data, DATA), f"sqlite:///{folder}/server.db"
    server, tokens = filled_store(address, path, Terms(total=Guarantee(100)))
    with served(address) as url:
        asked = {"statistic": "mean", "column": "age", "bounds": [0, 120], "epsilon": 1}
        answer = Api(url, tokens["anna"]).release(asked, key="0123456789abcdef")
        told["released"] = answer.json()["answers"][0]["value"]
    server.close()
    path.unlink()
    data.rmdir()
    (folder / "told.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())
