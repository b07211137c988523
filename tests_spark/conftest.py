"""One Spark for all tests, classic and Connect, on two cores.

``SOURDINE_SPARK_CORES=1 python -m pytest tests_spark`` runs them on one.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from socket import socket

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[1]
CORES = os.environ.get("SOURDINE_SPARK_CORES", "2")
JAVA = "Spark needs Java 17: install openjdk-17-jre-headless, or set JAVA_HOME"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.maxResultSize": "32m",
    "spark.sql.shuffle.partitions": "2",
    "spark.python.worker.reuse": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def _java():
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=None if home is None else str(Path(home) / "bin"))


def pytest_configure(config):
    """PySpark warns of pandas 3, of connections it leaves open, and of its own old names."""
    for ignored in (
        "ignore:PySpark does not yet fully support pandas:FutureWarning",
        "ignore::ResourceWarning",
        "ignore::DeprecationWarning:pyspark",
        "ignore::pytest.PytestUnraisableExceptionWarning",
    ):
        config.addinivalue_line("filterwarnings", ignored)


def pytest_collection_modifyitems(items):
    """Without Java nothing runs; where it is required that is a failure."""
    if _java() is None and os.environ.get("SOURDINE_SPARK") != "required":
        for item in items:
            item.add_marker(pytest.mark.skip(reason=JAVA))


def free_port():
    with socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _without_clocks(task):
    """Return the bytes of a task's result, but for readings of Spark's own clocks."""
    clocks = (
        task.executorDeserializeTime(),
        task.executorDeserializeCpuTime(),
        task.executorRunTime(),
        task.executorCpuTime(),
        task.jvmGcTime(),
        task.resultSerializationTime(),
    )
    return task.resultSize() - 43 * sum(time > 0 for time in clocks)


class Sparks:
    """The classic session, and one of Connect to the same Spark."""

    def __init__(self, master):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master).appName("tests")
        own = {"spark.connect.grpc.binding.port": str(free_port())}
        plugin = {"spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin"}
        for name, value in {**SETTINGS, **own, **plugin}.items():
            builder = builder.config(name, value)
        self.classic = builder.getOrCreate()
        self.classic.sparkContext.setLogLevel("OFF")
        self.port = self.classic.sparkContext.getConf().get("spark.connect.grpc.binding.port")
        self._connect, self._stages = None, []

    @property
    def connect(self):
        if self._connect is None:
            from pyspark.sql.connect.session import SparkSession

            self._connect = SparkSession.builder.remote(f"sc://127.0.0.1:{self.port}").create()
        return self._connect

    def jobs(self):
        """The number of jobs, of tasks and of bytes of results so far.

        A task sends along with its result each of its clocks that shows a millisecond or more: 43
        bytes a clock, which are left out.
        """
        context = self.classic.sparkContext._jsc.sc()
        context.listenerBus().waitUntilEmpty()
        store = context.statusStore()
        while True:
            try:
                store.lastStageAttempt(len(self._stages))
            except Exception:  # noqa: BLE001 - there is no such stage
                break
            tasks = store.taskList(len(self._stages), 0, 1 << 20)
            own = [task.taskMetrics() for task in map(tasks.apply, range(tasks.size()))]
            sizes = [_without_clocks(task.get()) for task in own if not task.isEmpty()]
            self._stages.append((len(sizes), sum(sizes)))
        tasks, size = map(sum, zip(*self._stages, strict=True)) if self._stages else (0, 0)
        return store.jobsList(None).size(), tasks, size

    def stop(self):
        if self._connect is not None:
            self._connect.stop()
        self.classic.stop()


@pytest.fixture(scope="session")
def sparks():
    if _java() is None:
        pytest.fail(JAVA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Sparks(f"local[{CORES},3]")  # a task may fail twice
    yield found
    found.stop()


@pytest.fixture
def spark(sparks):
    return sparks.classic


@pytest.fixture(params=["classic", "connect"])
def each_spark(request, sparks):
    """Both sessions, one after the other."""
    return getattr(sparks, request.param)


@pytest.fixture
def settings():
    """Change settings of a session; they are put back."""
    changed = []

    def change(session, given):
        for name, value in given.items():
            changed.append((session, name, session.conf.get(name, None)))
            session.conf.set(name, value)

    yield change
    for session, name, value in reversed(changed):
        if value is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, value)


@pytest.fixture
def as_spark(tmp_path):
    """Return a function that puts an Arrow table into Spark, by a Parquet file."""

    def make(session, table, partitions=None):
        path = tmp_path / f"rows{len(list(tmp_path.iterdir()))}.parquet"
        pq.write_table(table, path)
        frame = session.read.parquet(str(path))
        return frame if partitions is None else frame.repartition(partitions)

    return make


@pytest.fixture(scope="session")
def suite():
    """Return a function that loads a file of tests for all engines, to run them on Spark."""

    def load(name):
        path = ROOT / "tests" / "frames" / f"{name}.py"
        spec = spec_from_file_location(f"shared_{name}", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
