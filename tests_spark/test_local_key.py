"""Where the key of a call is not: in plans, events, logs and files. What a killed driver leaves.

All of it is seen of another process, which writes down what Spark can say: events, and everything
from DEBUG upwards that the driver logs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from socket import socket

import pytest

from sourdine.local import Flag, Schema

HERE = Path(__file__).parent
KEY = b"no-plan-and-no-log-holds-thiskey"
OTHER = b"but-a-value-in-a-frame-they-hold"
SCHEMA = Schema(smokes=Flag(), epsilon=1, missing="random")
LOG4J = """
rootLogger.level = debug
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {folder}/driver.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c %m %ex%n
logger.netty.name = io.netty
logger.netty.level = info
logger.codegen.name = org.apache.spark.sql.catalyst.expressions.codegen
logger.codegen.level = info
"""


def settings(folder):
    with socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": str(folder / "events"),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        f"-Dlog4j2.configurationFile={folder}/log4j2.properties",
    }


def forms(key):
    """Return the key as it is, in hexadecimal, in base64 at any place, as numbers of Java."""
    found = {key, key.hex().encode(), key.hex().upper().encode()}
    found |= {b64encode(key[i : i + 27]) for i in range(3)}
    numbers = [byte if byte < 128 else byte - 256 for byte in key[:12]]
    return found | {", ".join(map(str, numbers)).encode(), ",".join(map(str, numbers)).encode()}


def holders(folder, key):
    """Return the files and folders that hold the key in any form."""
    texts = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {
        path.relative_to(folder).parts[0]
        for path, text in texts.items()
        if any(form in text for form in forms(key))
    }


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return the folder in which another process sanitised, logged and was killed."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "events").mkdir()
    (folder / "log4j2.properties").write_text(LOG4J.format(folder=folder))
    facts = {"folder": str(folder), "key": KEY.decode(), "other": OTHER.decode()}
    found = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, HERE / "told_driver.py"],
        input=json.dumps({**facts, "settings": settings(folder)}).encode(),
        env={**os.environ, "PYTHONPATH": str(HERE.parent / "src")},
        capture_output=True,
        timeout=600,
        check=False,
    )
    (folder / "shown").write_bytes(found.stdout + found.stderr)
    assert b"written" in found.stdout, found.stderr.decode()[-3000:]
    return folder


def test_the_key_is_in_no_plan_event_log_or_file(told):
    assert {"events", "driver.log", "out", "shown"} <= {path.name for path in told.iterdir()}
    assert holders(told, OTHER) >= {"events", "driver.log"}, "a value in a plan is found"
    assert b"MapInArrow" in (told / "shown").read_bytes()
    assert holders(told, KEY) == set()


def test_what_a_killed_driver_left_is_refused(told, spark):
    assert list((told / "killed").rglob("_temporary"))
    assert not list((told / "killed").glob("*.parquet"))
    rows = spark.range(3).selectExpr("true as smokes")
    with pytest.raises(FileExistsError, match="delete it first"):
        SCHEMA.sanitize(rows, to=told / "killed")
