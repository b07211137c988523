"""A PostgreSQL server to throw away: its own folder, a socket in that folder, no port.

It needs the programs alone (``apt-get install postgresql``), no service that runs. The server
refuses to run as root, so root runs it as another user. It ends with the process that made it,
however that ends: whoever watches over it reads a pipe that only this process holds.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import suppress
from glob import glob
from itertools import count
from pathlib import Path
from urllib.parse import quote

__all__ = ["BINARIES", "Cluster"]

BINARIES = os.pathsep.join(
    (*sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True), "/usr/local/pgsql/bin")  # noqa: PTH207
)
"""Where distributions put the programs of the server."""
OWNER = "postgres"
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""What a server may do whose data nobody needs after a loss of power."""
WATCH = """\
trap '' INT TERM HUP
cat >/dev/null
"$1"/pg_ctl -D "$2"/data -m immediate stop >/dev/null 2>&1
rm -rf "$2"
"""


class Cluster:
    """A running server; `stop` ends it and deletes its folder.

    Parameters
    ----------
    programs
        The folder of ``initdb`` and ``pg_ctl``.
    durable
        Whether a commit waits for the disk.
    """

    def __init__(self, programs: str | os.PathLike[str], *, durable: bool = False) -> None:
        self._programs, self._names = Path(programs), count(1)
        self.folder = Path(tempfile.mkdtemp(prefix="sourdine-pg-"))
        self._user: dict[str, object] = {}
        if os.geteuid() == 0:
            owner = _somebody()
            self._user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._watch = subprocess.Popen(  # noqa: S603 - our own script
            ["/bin/sh", "-c", WATCH, "watch", str(self._programs), str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd=self.folder,
            **self._user,
        )
        try:
            self._start((f"unix_socket_directories={self.folder}", *(() if durable else QUICK)))
        except BaseException:
            self.stop()
            raise

    def _start(self, settings: tuple[str, ...]) -> None:
        data, log = self.folder / "data", self.folder / "log"
        make = ("--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
        self._run("initdb", "-D", data, "-U", OWNER, *make)
        options = " ".join(f"-c {one}" for one in ("listen_addresses=", *settings))
        self._run("pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start")

    def _run(self, program: str, *args: str | Path) -> None:
        output = self.folder / "output"
        with output.open("w") as said:  # a pipe would stay open in the server
            done = subprocess.run(  # noqa: S603 - the server's own programs
                [self._programs / program, *args],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                check=False,
                **self._user,
            )
        if done.returncode:
            log = self.folder / "log"
            more = log.read_text() if log.exists() else ""
            raise RuntimeError(f"{program} failed:\n{output.read_text()}{more}")

    def dsn(self, database: str = OWNER) -> str:
        """Return the address of a database."""
        return f"postgresql://{OWNER}@/{database}?host={quote(str(self.folder), safe='')}"

    def create(self) -> str:
        """Make an empty database and return its address."""
        name = f"test{next(self._names)}"
        self._do(f"CREATE DATABASE {name}")
        return self.dsn(name)

    def drop(self, dsn: str) -> None:
        """Delete a database, whoever uses it."""
        name = dsn.partition("@/")[2].partition("?")[0]
        self._do(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _do(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.dsn(), autocommit=True) as db:
            db.execute(statement)

    def stop(self) -> None:
        """End the server and delete its folder."""
        with suppress(BrokenPipeError):
            self._watch.stdin.close()
        self._watch.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _somebody() -> pwd.struct_passwd:
    """Return a user who is not root."""
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("neither postgres nor nobody is a user here; run this as somebody else")
