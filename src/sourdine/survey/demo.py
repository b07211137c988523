"""A survey that runs on this machine, answered by simulated browsers."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import subprocess
import tomllib
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.local.reports.records import to_lines
from sourdine.survey.document import SKELETON, Survey
from sourdine.survey.page import page
from sourdine.survey.results import results
from sourdine.survey.serving import Collector, WebServer
from sourdine.survey.store import SurveyStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.survey.results import Results


MOST = 100_000
WAYS = {"foot": 0.15, "bike": 0.25, "bus": 0.2, "car": 0.4}
WISHES = {"seats": 0.3, "shade": 0.2, "times": 0.7}
SILENT = 0.1
"""The share of people who leave a question unanswered."""
PART = 0.4
"""The part of the time in which everybody answers."""
TOGETHER = 64
"""Browsers that send at the same time."""


def demo(*, n: int, seconds: float, port: int = 0, say: Callable[[str], None]) -> Results:
    """Run a survey that ``n`` browsers answer until it is stopped, or stops by itself.

    Returns what it says in the end. The port is one of loopback, 0 for a free one.
    """
    if not 1 <= n <= MOST:
        raise ParameterError("n", f"be from 1 to {MOST}", str(n), n=500)
    if not 0 < seconds <= 86_400:
        raise ParameterError("seconds", "be above 0 and at most 86400", f"{seconds:g}", seconds=60)
    with TemporaryDirectory(prefix="sourdine-") as folder:
        place = port
        if not place:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                place = int(taken.getsockname()[1])
        facts = tomllib.loads(SKELETON) | {"send_to": f"http://127.0.0.1:{place}/reports"}
        # one question for each person tells more of few people
        survey = Survey.from_facts(facts | {"epsilon": 2, "method": "sample"})
        file = Path(folder, "commute.db")
        store, _ = SurveyStore.create(file, survey)
        lines, engine = simulated(survey, n)
        say(f"{n} simulated browsers ({engine}) answer.")
        asyncio.run(_run(file, place, lines, seconds, say))
        found = results(store)
        store.close()
    return found


def simulated(survey: Survey, n: int) -> tuple[list[str], str]:
    """Return the records of people who answer the survey of `SKELETON`, and what drew them.

    The page's own device draws them in Node; where there is none, the schema does.
    """
    people = [_person(random.SystemRandom()) for _ in range(n)]
    program = shutil.which("node")
    if program is None:
        several = [{**one, "wishes": ";".join(one.get("wishes", ()))} for one in people]
        table = {name: [one.get(name) for one in several] for name in survey.schema.columns}
        drawn = survey.schema.reports(table)
        return [line for records in drawn for line in to_lines(records)], "Python"
    with (
        TemporaryDirectory() as folder,
        as_file(files("sourdine.survey").joinpath("web", "device.mjs")) as script,
    ):
        html = Path(folder, "page.html")
        html.write_bytes(page(survey))
        done = subprocess.run(  # noqa: S603 - the device, by its path
            [program, str(script), str(html)],
            input="\n".join(map(json.dumps, people)),
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout.split(), "Node"


def _person(rng: random.Random) -> dict[str, Any]:
    way = rng.choices([*WAYS], [*WAYS.values()])[0]
    minutes = min(120, round(rng.gammavariate(4, 8)))
    late = rng.random() < (0.5 if way == "bus" else 0.2)
    answers = {
        "way": way,
        "minutes": minutes,
        "late": "true" if late else "false",
        "wishes": [wish for wish, chance in WISHES.items() if rng.random() < chance],
    }
    return {name: answer for name, answer in answers.items() if rng.random() > SILENT}


async def _run(
    file: Path, port: int, lines: list[str], seconds: float, say: Callable[[str], None]
) -> None:
    collector = Collector(file)
    server = WebServer(collector, port=port)

    def ready() -> None:
        say(f"Page     http://127.0.0.1:{port}/")
        say(f"Results  http://127.0.0.1:{port}/results")
        say(f"It stops in {seconds:g} seconds, or with Ctrl-C.")

    async def life() -> None:
        few = asyncio.Semaphore(TOGETHER)

        async def browser(line: str) -> None:
            await asyncio.sleep(PART * seconds * random.random())  # noqa: S311 - when, not what
            async with few:
                await _send(port, line)

        await asyncio.gather(*map(browser, lines))
        say(f"All {len(lines)} have answered.")

    serving = asyncio.create_task(server.serve(ready))
    browsers = asyncio.create_task(life())
    try:
        await asyncio.wait({serving}, timeout=seconds)
        server.stop()
        browsers.cancel()
        await asyncio.wait({serving, browsers})
        serving.result()
    finally:
        await asyncio.to_thread(collector.stop)


async def _send(port: int, line: str) -> None:
    """Post one record as a browser does."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.05)
    head = f"POST /reports HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(line)}\r\n"
    try:
        writer.write(f"{head}connection: close\r\n\r\n{line}".encode())
        await reader.read()
    finally:
        writer.close()
