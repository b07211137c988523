"""Runs experiments on all cores; parts that were computed before are not computed again."""

from __future__ import annotations

import inspect
import json
import os
import re
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import __version__
from sourdine_lab.registry import all_experiments, the_experiment
from sourdine_lab.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sourdine_lab.experiment import Experiment, Part, Row, Settings

__all__ = ["Run", "Runner", "computed", "folder_of", "pool", "run"]

HERE = Path(__file__).parent / "experiments"
USED = re.compile(r"sourdine_lab\.experiments\.(\w+)")


@contextmanager
def pool(workers: int | None = None) -> Iterator[ProcessPoolExecutor]:
    """Yield processes for all cores; what still waits is dropped when something raises."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    processes = ProcessPoolExecutor(workers or os.cpu_count(), mp_context=get_context("spawn"))
    try:
        yield processes
    finally:
        processes.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """Where results go, how thorough they are, and the seed of all chance.

    Parameters
    ----------
    folder
        Where the parts are kept. A part is computed again when its settings, the seed, the code of
        its document's experiments or the version of the library is another.
    quick
        Settings that take seconds in place of the full ones.
    seed
        Recorded with every part.
    workers
        How many processes; as many as there are cores if left out.
    given
        Settings other than the usual ones, as they were typed.
    """

    folder: Path
    quick: bool = False
    seed: int = 1
    workers: int | None = None
    given: Mapping[str, object] = field(default_factory=dict)

    def settings(self, experiment: Experiment) -> Settings:
        """Return all settings of an experiment in this run."""
        return experiment.values(self.given, quick=self.quick)

    def parts(self, experiment: Experiment) -> list[Part]:
        """Return the parts of an experiment in this run."""
        return experiment.split(self.settings(experiment), seed=self.seed)

    def run(
        self, experiments: list[Experiment], done: Callable[[Experiment, int, int], None]
    ) -> Iterator[tuple[Experiment, Table]]:
        """Yield each experiment with its table as it is finished.

        ``done`` is told, after each part, how many of how many are there.
        """
        for workers, group in (
            (self.workers, [e for e in experiments if not e.alone]),
            (1, [e for e in experiments if e.alone]),
        ):
            if group:
                yield from self._run(group, done, workers)

    def _run(
        self,
        experiments: list[Experiment],
        done: Callable[[Experiment, int, int], None],
        workers: int | None,
    ) -> Iterator[tuple[Experiment, Table]]:
        parts = {e.name: self.parts(e) for e in experiments}
        rows = {e.name: self._found(e, parts[e.name]) for e in experiments}
        for experiment in experiments:
            done(experiment, len(rows[experiment.name]), len(parts[experiment.name]))
            if len(rows[experiment.name]) == len(parts[experiment.name]):
                yield experiment, _together(rows[experiment.name])
        waiting: dict[Future[list[Row]], tuple[Experiment, int]] = {}
        with pool(workers) as processes:
            for experiment in experiments:
                for i, part in enumerate(parts[experiment.name]):
                    if i not in rows[experiment.name]:
                        future = processes.submit(computed, experiment.name, part)
                        waiting[future] = (experiment, i)
            while waiting:
                finished = wait(waiting, return_when=FIRST_COMPLETED).done
                # An error ends the run: what is finished beside it is kept first.
                for future in sorted(finished, key=lambda one: one.exception() is not None):
                    experiment, i = waiting.pop(future)
                    name, total = experiment.name, len(parts[experiment.name])
                    rows[name][i] = future.result()
                    self._keep(experiment, parts[name][i], rows[name][i])
                    done(experiment, len(rows[name]), total)
                    if len(rows[name]) == total:
                        yield experiment, _together(rows[name])

    def _found(self, experiment: Experiment, parts: list[Part]) -> dict[int, list[Row]]:
        paths = ((i, self._kept(experiment, part)) for i, part in enumerate(parts))
        return {i: json.loads(p.read_text("utf-8"))["rows"] for i, p in paths if p.exists()}

    def _kept(self, experiment: Experiment, part: Part) -> Path:
        """Return where the rows of a part are, under a name that changes with its code."""
        code = _code(Path(inspect.getfile(experiment.compute)).parent)
        name = blake2b(f"{__version__}{code}{part.key}".encode(), digest_size=12).hexdigest()
        return self.folder / experiment.name / f"{name}.json"

    def _keep(self, experiment: Experiment, part: Part, rows: list[Row]) -> None:
        path = self._kept(experiment, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        settings = {**part.shared, **part.settings}
        facts = {"settings": settings, "seed": part.seed, "key": part.key, "rows": rows}
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(facts), "utf-8")
        fresh.replace(path)


def folder_of(given: Mapping[str, object]) -> str:
    """Return the name of a folder for a run with other settings.

    Examples
    --------
    >>> folder_of({"epsilon": "0.1", "law": "beta(2,5)"})
    'with-epsilon-0.1-law-beta-2-5-7fc0'
    """
    said = "-".join(f"{name}-{value}" for name, value in sorted(given.items()))
    mark = blake2b(said.encode(), digest_size=2).hexdigest()
    return f"with-{re.sub(r'[^a-z0-9.]+', '-', said.lower()).strip('-.')[:60]}-{mark}"


@cache
def _code(folder: Path) -> str:
    """Return all that is written beside an experiment, and beside those it takes something from."""
    texts: dict[Path, str] = {}
    waiting = {folder}
    while waiting:
        place = waiting.pop()
        texts[place] = "".join(path.read_text("utf-8") for path in sorted(place.glob("*.py")))
        used = {HERE / name for name in USED.findall(texts[place])}
        waiting |= used - set(texts)
    return "".join(texts[place] for place in sorted(texts))


def computed(name: str, part: Part) -> list[Row]:
    """Compute a part of the experiment of that name."""
    return [
        {column: _plain(value) for column, value in row.items()}
        for row in all_experiments()[name].compute(part)
    ]


def _plain(value: float | str) -> float | int | str:
    return value.item() if isinstance(value, np.generic) else value


def _together(rows: dict[int, list[Row]]) -> Table:
    return Table([row for i in sorted(rows) for row in rows[i]])


# ---- From Python ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """What an experiment computed.

    Parameters
    ----------
    experiment
        The experiment.
    settings
        All settings of the run.
    table
        The numbers, a row each.
    """

    experiment: Experiment
    settings: Settings
    table: Table

    def figure(self) -> Any:
        """Return the picture, a matplotlib figure."""
        return self.experiment.figure(self.table, self.settings)

    def save(self, folder: Path | str) -> Path:
        """Write picture and numbers into a folder; return the picture's path."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        self.table.save(place / f"{self.experiment.name}.csv")
        path = place / f"{self.experiment.name}.png"
        self.figure().savefig(path)
        return path


def run(
    name: str,
    *,
    quick: bool = False,
    seed: int = 1,
    workers: int = 1,
    folder: Path | str | None = None,
    **settings: object,
) -> Run:
    """Run one experiment.

    Parameters
    ----------
    name
        The name of an experiment, such as ``canesse-4``.
    quick
        Use small settings that run in seconds.
    seed
        The random seed.
    workers
        The number of processes. With more than one, a script must start below
        ``if __name__ == "__main__":``, because processes import it again.
    folder
        Keep the parts in this folder and reuse them. Nothing is kept by default.
    **settings
        Other values of the experiment's settings; ``sourdine lab list canesse-4`` shows them.

    Raises
    ------
    ParameterError
        There is no such experiment or setting, or a value is not one of that setting.

    Examples
    --------
    >>> found = run("canesse-4", epsilon=0.1, sizes=[100, 200], runs=2, workers=1)
    >>> found.settings["epsilon"], sorted(set(found.table["n"].tolist()))
    (0.1, [100, 200])
    """
    experiment = the_experiment(name)
    values = experiment.values(settings, quick=quick)
    if workers == 1 and folder is None:
        parts = experiment.split(values, seed=seed)
        return Run(
            experiment, values, Table([row for part in parts for row in computed(name, part)])
        )
    with TemporaryDirectory() as temporary:
        place = Path(folder or temporary)
        runner = Runner(place, quick=quick, seed=seed, workers=workers, given=settings)
        [(_, table)] = runner.run([experiment], lambda *_: None)
    return Run(experiment, values, table)
