"""An exported task folder is loaded, and its reward is read, by `verifiers`, which trains and evaluates models on such.

It wants another MCP SDK than ours and stands in an environment of its own. Its newer versions read a folder with the
package `harbor`, which needs Python 3.12; this is the last one that reads it by itself. It takes tasks from a hub or
from its cache: the export is laid there, so that nothing is downloaded. It builds no Dockerfile, and has to be told to
go on without.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.evidence.waiver_world import person
from tests.stories.test_freshness import module, world

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")

VERIFIERS = "verifiers==0.2.1"
UNREACHABLE = ("No matching distribution", "Could not find a version", "Connection", "Max retries", "timed out")
PLAYED = r"""
import asyncio, json, shutil, subprocess, sys
from pathlib import Path
from verifiers.v1.runtimes.subprocess import SubprocessConfig, SubprocessRuntime
from verifiers.v1.tasksets.harbor.taskset import CACHE, HarborConfig, HarborTaskset

exported, name, app = Path(sys.argv[1]), "agent-fox/exported", Path("/app")
CACHE.mkdir(parents=True)
(CACHE / name.replace("/", "_")).symlink_to(exported)


def loaded(**choices):
    try:
        return list(HarborTaskset(HarborConfig(dataset=name, **choices)).load())
    except ValueError as error:
        return str(error)


async def reward(task):
    runtime = SubprocessRuntime(SubprocessConfig())
    await runtime.start()
    try:
        return await task.solved(runtime)
    finally:
        await runtime.stop()


refused, (task,) = loaded(), loaded(ignore_dockerfile=True)
rewards = []
for is_solved in (False, True):
    shutil.copytree(exported / "01_a/environment/tree", app, dirs_exist_ok=True)
    if is_solved:
        subprocess.run(["sh", str(exported / "01_a/solution/solve.sh")], check=True, capture_output=True)
    rewards.append(asyncio.run(reward(task)))
data = task.data
found = {"name": data.name, "prompt": data.prompt, "category": data.category}
print(json.dumps({**found, "refused": refused, "rewards": rewards}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter of an environment in which `verifiers` stands."""
    folder = tmp_path_factory.mktemp("verifiers")
    venv.create(folder, with_pip=True)
    words = [str(folder / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", VERIFIERS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode and any(word in done.stderr for word in UNREACHABLE):
        pytest.skip(f"{VERIFIERS} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    yield folder / "bin/python"
    shutil.rmtree(folder)


def in_a_box(python: Path, home: Path, *words: str) -> dict[str, Any]:
    """What it prints in a box where `/app`, `/tests` and `/logs` are its own, and no network is."""
    places = {
        "/usr", "/bin", "/lib", "/lib64", "/etc", str(python.parents[1]), str(home.parent), sys.prefix, sys.base_prefix,
    }  # fmt: skip
    binds = [word for place in sorted(places) if Path(place).exists() for word in ("--ro-bind", place, place)]
    box = ["bwrap", "--unshare-all", "--die-with-parent", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev"]
    own = [word for place in ("/app", "/tests", "/logs", "/tmp") for word in ("--tmpfs", place)]
    at = ["--bind", str(home), str(home), "--setenv", "HOME", str(home), "--chdir", "/app"]
    done = subprocess.run(
        [*box, *own, *binds, *at, str(python), *words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_verifiers_loads_an_exported_task_and_pays_for_the_work_alone(python: Path, tmp_path: Path) -> None:
    alice = person(tmp_path / "people")
    root = world(tmp_path / "repo", {"01_a": module("01")}, {"shop/__init__.py": ""})
    alice.run(root, 0)
    why = ("--reason", "ours", *alice.signing)
    allowed = alice.cli(root, "training", "allow", "spec:01_a", "--purpose", "tuning", "--expires", "9d", *why)
    assert allowed.returncode == 0, allowed
    exported = tmp_path / "out"
    assert alice.cli(root, "export", "tasks", str(exported), "--purpose", "tuning").returncode == 0
    (tmp_path / "home").mkdir()
    found = in_a_box(python, tmp_path / "home", "-c", PLAYED, str(exported))
    assert found.pop("prompt") == (exported / "01_a/instruction.md").read_text().strip()
    assert found.pop("refused").startswith("01_a: environment is a Dockerfile, not a pullable ")
    assert found == {"name": "01_a", "category": "programming", "rewards": [0.0, 1.0]}
