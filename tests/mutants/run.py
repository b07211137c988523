"""Run the tests against every mutant, and record which tier finds it.

    make mutants                              # every mutant, to the end: several hours
    python tests/mutants/run.py --resume      # only those without a result
    python tests/mutants/run.py --only privacy-budget-delta-unchecked
    python tests/mutants/run.py --table       # print the recorded results

A mutant is one deliberate bug, declared in ``<package>.toml`` beside this file. It is applied in a
temporary copy of the repository, never in the working tree. Its tests run in this order and stop
at the first failure: the quick tests named by the mutant, the examples of its module and the quick
tests of its package, all quick tests, the slow tests of its package, all slow tests. At the end
every test that found a mutant runs once without any: a test that fails there shows nothing, and
its results are deleted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
QUICK, SLOW = "not slow and not simulation", "slow and not simulation"
LIMITS = {QUICK: 3600, SLOW: 14_400}
"""Seconds after which a run counts as a failure: a mutant may loop for ever."""
NEAR = {
    "answers": ("tests/results",),
    **{
        name: (f"tests/{name}", "tests/audit/test_conformance.py")
        for name in ("central", "local", "mechanisms", "noise")
    },
    "calendar": ("tests/central/test_dates.py", "tests/frames/test_dates.py"),
    "client": ("tests/server/test_remote_session.py", "tests/server"),
    "data": ("tests/test_data.py",),
    "errors": ("tests/test_errors.py", "tests/test_error_hints.py"),
    "grid": ("tests/test_grid.py",),
    "plan": ("tests/test_plan.py", "tests/cli/test_plan_command.py"),
    "questions": ("tests/parameters",),
    "storage": ("tests/storage", "tests/server/test_database.py"),
    "reports": ("tests/session/test_filing.py", "tests/cli/test_filing.py"),
}
"""Where the tests of a package are, if not in the folder of the same name."""


@dataclass(frozen=True)
class Mutant:
    """A deliberate bug: in `file`, the only occurrence of `old` becomes `new`."""

    id: str
    file: str
    kind: str
    description: str
    old: str
    new: str
    tests: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """The package, or the module beside the packages, that the mutant changes."""
        return Path(self.file).parts[0].removesuffix(".py")

    @property
    def near(self) -> tuple[str, ...]:
        """Where the tests of the package are."""
        return NEAR.get(self.package, (f"tests/{self.package}",))

    @property
    def digest(self) -> str:
        """A text that changes whenever the mutant does, so that no result outlives it."""
        return hashlib.sha256(repr((self.file, self.old, self.new)).encode()).hexdigest()[:12]

    def apply(self, text: str) -> str:
        """Return the text of the file with the bug in it."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.id}: {text.count(self.old)} places in {self.file}, not one")
        return text.replace(self.old, self.new)


def read() -> list[Mutant]:
    """Return every mutant that is declared beside this file."""
    return [
        Mutant(**{**one, "tests": tuple(one.get("tests", ()))})
        for path in sorted(HERE.glob("*.toml"))
        for one in tomllib.loads(path.read_text("utf-8"))["mutant"]
    ]


class Copy:
    """A copy of the repository in which one mutant at a time is applied and tested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def find(self, mutant: Mutant, depth: str) -> dict[str, str | None] | None:
        """Return the tier and the test that find the mutant; None if `depth` does not tell."""
        path = self.folder / "src" / "sourdine" / mutant.file
        right = path.read_text("utf-8")
        self._write(path, mutant.apply(right))
        try:
            for name, tier, tests in stages(mutant)[: DEPTHS[depth]]:
                if failed := self.failures(tier, tests):
                    return {"digest": mutant.digest, "tier": name, "test": failed[0]}
        finally:
            self._write(path, right)
        return {"digest": mutant.digest, "tier": "none", "test": None} if depth == "all" else None

    @staticmethod
    def _write(path: Path, text: str) -> None:
        # Bytecode is compared by seconds and size, which two mutants may share.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(text, "utf-8")

    def failures(self, marks: str, tests: tuple[str, ...], *, first: bool = True) -> list[str]:
        """Return the tests that fail, or the first of them."""
        source = os.pathsep.join(str(self.folder / part) for part in ("src", "lab/src"))
        environment = os.environ | {"PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        words = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no"]
        # The test of the set itself would find that a mutant is planted, and nothing about it.
        words += ["--deselect=tests/test_mutants.py", "-rfE", "-m", marks]
        words += [*(["-x"] if first else []), *tests]
        try:
            ran = subprocess.run(  # noqa: S603
                words,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=LIMITS.get(marks),
            )
        except subprocess.TimeoutExpired:
            return [f"{' '.join(tests)} does not end"]
        if ran.returncode in {0, 5}:  # 5: no test has these marks
            return []
        found = failed(ran.stdout)
        if not found and "while loading conftest" in ran.stderr:
            return ["conftest.py"]
        if not found:
            raise RuntimeError(f"pytest ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return found


def failed(printed: str) -> list[str]:
    """Return the tests that pytest lists as failed."""
    lines = re.findall(r"^(?:FAILED|ERROR) (.+)$", printed, re.MULTILINE)
    names = [re.match(r"[^\s\[]+(?:\[.*?\](?= - |$))?", line) for line in lines]
    return [name[0] for name in names if name]


def stages(mutant: Mutant) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the tier, the marks and the tests of every run, in their order."""
    module = "sourdine." + mutant.file.removesuffix(".py").replace("/", ".")
    examples = f"tests/test_docstrings.py::test_docstrings[{module.removesuffix('.__init__')}]"
    return [
        ("quick", QUICK, mutant.tests),
        ("quick", QUICK, (examples, *mutant.near)),
        ("quick", QUICK, ("tests",)),
        ("slow", SLOW, mutant.near),
        ("slow", SLOW, ("tests",)),
    ]


DEPTHS = {"named": 1, "near": 2, "quick": 3, "slow": 4, "all": 5}


def control(found: dict[str, dict], copy: Copy, results: dict[str, dict]) -> None:
    """Run the tests that found mutants without any, and delete the results of those that fail."""
    tests = sorted({one["test"] for one in found.values() if "::" in (one["test"] or "")})
    for test in copy.failures("", tuple(tests), first=False) if tests else ():
        Console().print(f"{test} fails without a mutant", style="red", markup=False)
        for key in [key for key, one in results.items() if one["test"] == test]:
            del results[key]


# ---- results


def table(mutants: list[Mutant], results: dict[str, dict], name: str) -> Table:
    """Return how many mutants each tier finds, by package or by kind."""
    rows = defaultdict(Counter)
    for one in mutants:
        rows[getattr(one, name)][results.get(one.id, {}).get("tier", "not run")] += 1
    columns = ["quick", "slow", "none", "not run"]
    shown = Table(name, "mutants", "quick", "slow only", "survived", "not run")
    for key, row in sorted(rows.items()):
        shown.add_row(key, str(row.total()), *(str(row[column] or "") for column in columns))
    whole = sum(rows.values(), Counter())
    shown.add_section()
    shown.add_row("total", str(whole.total()), *(str(whole[column]) for column in columns))
    return shown


def summary(mutants: list[Mutant], results: dict[str, dict]) -> str:
    """Return the share of the mutants found by all tests that the quick tests find."""
    tiers = Counter(results[one.id]["tier"] for one in mutants if one.id in results)
    found = tiers["quick"] + tiers["slow"]
    quick, share = tiers["quick"], f"{tiers['quick'] / found:.1%}" if found else "none"
    return f"The quick tests find {quick} of the {found} mutants that any test finds: {share}."


def write(results: dict[str, dict]) -> None:
    """Write the results; nothing in them depends on the machine."""
    document = {
        "date": datetime.now(UTC).date().isoformat(),
        "mutants": dict(sorted(results.items())),
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def recorded(mutants: list[Mutant]) -> dict[str, dict]:
    """Return the results of the mutants that have not changed since."""
    if not RESULTS.exists():
        return {}
    kept = json.loads(RESULTS.read_text("utf-8"))["mutants"]
    digests = {one.id: one.digest for one in mutants}
    return {key: one for key, one in kept.items() if one["digest"] == digests.get(key)}


def run(chosen: list[Mutant], results: dict[str, dict], depth: str, jobs: int) -> None:
    """Test mutants, each in a copy of its own, and add what finds them to the results."""
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn())
    with (
        tempfile.TemporaryDirectory(prefix="mutants") as folder,
        ThreadPoolExecutor(jobs) as pool,
        Progress(*columns, TimeElapsedColumn()) as progress,
    ):
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            copies.put(Copy(Path(folder) / str(number)))

        def one(mutant: Mutant) -> dict[str, str | None] | None:
            copy = copies.get()
            try:
                return copy.find(mutant, depth)
            finally:
                copies.put(copy)

        bar = progress.add_task("mutants", total=len(chosen))
        pending = {pool.submit(one, mutant): mutant for mutant in chosen}
        for future in as_completed(pending):
            mutant, found = pending[future], future.result()
            results.pop(mutant.id, None)
            if found:
                results[mutant.id] = found
                write(results)
            said = f"{found['tier']}: {found['test']}" if found else "not found so far"
            progress.console.print(f"{mutant.id}: {said}", soft_wrap=True, markup=False)
            progress.update(bar, advance=1, description=mutant.id)
        progress.update(bar, description="the same tests without a mutant")
        mine = {one.id for one in chosen}
        control({key: one for key, one in results.items() if key in mine}, copies.get(), results)
    write(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="ID", action="append", help="test this mutant")
    parser.add_argument("--resume", action="store_true", help="skip mutants with a result")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tested at the same time")
    parser.add_argument("--table", action="store_true", help="print the recorded results")
    parser.add_argument(
        "--control", action="store_true", help="only run the recorded tests, without a mutant"
    )
    parser.add_argument(
        "--depth", choices=DEPTHS, default="all", help="stop after these tests; default: all"
    )
    options = parser.parse_args()
    mutants = read()
    results = recorded(mutants)
    if unknown := set(options.only or ()) - {one.id for one in mutants}:
        parser.error(f"no mutant has the id {', '.join(sorted(unknown))}")
    chosen = [one for one in mutants if not options.only or one.id in options.only]
    if options.resume:
        chosen = [one for one in chosen if one.id not in results]
    if options.control:
        with tempfile.TemporaryDirectory(prefix="mutants") as folder:
            control(dict(results), Copy(Path(folder)), results)
        write(results)
    elif not options.table:
        run(chosen, results, options.depth, options.jobs)
    console = Console()
    console.print(table(mutants, results, "package"), table(mutants, results, "kind"))
    console.print(summary(mutants, results))


if __name__ == "__main__":
    main()
