"""A whole plan whose agent and tests run in a container: FAIL, repair, PASS; what becomes of a run that is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox.containers import found
from agent_fox.testing.worlds import SOURCE, first_commit, rows, run_cli, wait_until
from tests.system.sandbox.images import image

EXAMPLE = SOURCE / "examples/first"
HELD = """[places.box]
image = "{image}"
"""


@pytest.fixture(scope="module")
def made() -> str:
    name, why_not = image()
    if why_not:
        pytest.skip(why_not)
    return name


def example(folder: Path, made: str, *agent: str) -> Path:
    root = folder / "greet"
    shutil.copytree(EXAMPLE, root)
    first_commit(root, "Ada")
    done = run_cli(root, "init", "--agent", "command", "--", *(agent or ("python3", str(root / "agent.py"))))
    assert done.returncode == 0, done.stderr
    with (root / ".agent-fox/config.toml").open("a") as settings:
        settings.write(HELD.format(image=made))
    (root / "tests/test_where.py").write_text(
        "import os\n\n\ndef test_tests_run_in_the_image():\n    assert os.path.exists('/etc/image')\n"
    )
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", "A spec, its tests, and a place"], cwd=root, check=True)
    return root


def left(root: Path) -> list[str]:
    """Containers of launches of this repository that are there yet."""
    try:
        launches = {launch for (launch,) in rows(root, "SELECT id FROM launches")}
    except sqlite3.OperationalError:  # the run has not come so far
        return []
    words = ["podman", "ps", "--all", "--format", '{{index .Labels "agent-fox.launch"}}']
    return [
        own
        for own in subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        if own in launches
    ]


def test_a_fail_is_repaired_and_proven_in_a_container(tmp_path: Path, made: str) -> None:
    root = example(tmp_path, made)
    done = run_cli(root, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(root, "SELECT archetype, attempt, end_kind FROM sessions WHERE archetype = 'coder' ORDER BY id") == [
        ("coder", 1, "ended"), ("coder", 2, "ended"),
    ]  # fmt: skip
    ((environment,),) = rows(root, "SELECT DISTINCT environment FROM sessions WHERE archetype = 'verifier'")
    noted = [
        json.loads(str(data)) for (data,) in rows(root, f"SELECT data FROM events WHERE data LIKE '%{environment}%'")
    ]
    assert f"podman {found('podman', made).digest} closed" in [each["parts"].get("container") for each in noted]
    assert left(root) == []


def test_a_run_that_is_killed_leaves_no_container_once_it_goes_on(tmp_path: Path, made: str) -> None:
    hangs = "import os, pathlib, time; pathlib.Path('half').write_text('x'); time.sleep(600)"
    agent = tmp_path / "agent.py"
    agent.write_text(hangs)
    root = example(tmp_path, made, "python3", str(agent))
    argv = [sys.executable, "-m", "agent_fox.cli.main", "run"]
    with (tmp_path / "said").open("wb") as said:
        run = subprocess.Popen(argv, cwd=root, stdout=said, stderr=said, env={**os.environ, "PYTHONPATH": str(SOURCE)})
    wait_until(lambda: bool(left(root)), "a container ran", 120)
    before = left(root)
    run.send_signal(signal.SIGKILL)
    run.wait()
    agent.write_text((EXAMPLE / "agent.py").read_text())
    done = run_cli(root, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not set(before) & set(left(root))
    assert left(root) == []
    assert rows(root, "SELECT max(attempt) FROM sessions") == [(2,)], "the killed launch was charged to nobody"
