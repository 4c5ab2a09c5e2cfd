"""What is published: the wheel of agent-fox holds no double and needs none; the wheel of the doubles brings them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from agent_fox.testing.worlds import SOURCE, Req, World, git

DOUBLES = SOURCE / "agent_fox" / "testing"
WORLD = World({"01_calc": [Req("01-REQ-1.1")]})


@dataclass(frozen=True)
class Installation:
    """An environment with wheels of ours, beside the packages that this environment has from others."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def install(self, wheel: Path) -> None:
        offline = ("--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check")
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet")
        subprocess.run((*pip, *offline, wheel), check=True, capture_output=True)

    def run(self, folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.folder)}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    def agent_fox(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(folder, self.folder / "bin" / "agent-fox", *arguments)


def built(project: Path, folder: Path) -> Path:
    folder.mkdir()
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    subprocess.run(build, cwd=project, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel of agent-fox, and that of the doubles."""
    folder = tmp_path_factory.mktemp("wheels")
    return built(SOURCE, folder / "base"), built(DOUBLES, folder / "doubles")


@pytest.fixture
def base(wheels: tuple[Path, Path], tmp_path: Path) -> Installation:
    installation = Installation(tmp_path / "environment")
    venv.create(installation.folder, symlinks=True)
    (site,) = installation.folder.glob("lib/python*/site-packages")
    (site / "packages-of-others.pth").write_text(sysconfig.get_path("purelib"))
    installation.install(wheels[0])
    return installation


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "world").mkdir()
    return WORLD.build(tmp_path / "world")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


def tracked(place: str) -> set[str]:
    return set(git(SOURCE, "ls-files", "-co", "--exclude-standard", "--", place).splitlines())


def test_each_module_is_in_one_of_the_wheels(wheels: tuple[Path, Path]) -> None:
    modules = {name for name in tracked("agent_fox") if name.endswith(".py")}
    doubles = {name for name in modules if name.startswith("agent_fox/testing/")}
    in_base, in_doubles = ({name for name in names(wheel) if name.endswith(".py")} for wheel in wheels)
    assert in_base == modules - doubles
    assert {name for name in in_doubles if "/fixtures/" not in name} == doubles


def test_the_doubles_bring_the_files_of_the_demonstration(wheels: tuple[Path, Path]) -> None:
    demonstration = {f"agent_fox/testing/{name}" for name in tracked("fixtures/demo")}
    assert demonstration <= names(wheels[1])
    assert not any("fixtures" in name for name in names(wheels[0]))


def test_the_base_runs_without_the_doubles_and_says_what_brings_them(base: Installation, world: Path) -> None:
    where = base.run(world, base.python, "-P", "-c", "import agent_fox; print(agent_fox.__file__)").stdout
    assert Path(where.strip()).is_relative_to(base.folder)
    assert base.agent_fox(world, "--version").stdout.startswith("agent-fox")
    plan = base.agent_fox(world, "plan", "--json")
    assert (plan.returncode, plan.stderr) == (0, "")
    assert json.loads(plan.stdout)
    settings = world / ".agent-fox" / "config.toml"
    settings.write_text('[agents.coder]\nbackend = "scripted"\nscript = "steps.toml"\n')
    refused = base.agent_fox(world, "run")
    assert refused.returncode != 0
    assert "pip install 'agent-fox[testing]'" in refused.stdout + refused.stderr


def test_the_doubles_play_the_demonstration_from_their_wheel(
    base: Installation, wheels: tuple[Path, Path], tmp_path: Path
) -> None:
    base.install(wheels[1])
    made = base.run(tmp_path, base.python, "-m", "agent_fox.testing.demo", "shop")
    assert (made.returncode, made.stderr) == (0, "")
    plan = base.agent_fox(tmp_path / "shop", "run", "--dry-run")
    assert (plan.returncode, plan.stderr) == (0, "")
    model = base.run(tmp_path, base.python, "-m", "agent_fox.testing.model_server", "--help")
    assert model.returncode == 0


def test_the_doubles_go_with_the_agent_fox_of_their_own_version() -> None:
    base, doubles = (tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (SOURCE, DOUBLES))
    assert doubles["version"] == base["version"]
    assert doubles["dependencies"][0] == f"{base['name']}=={base['version']}"
    assert base["optional-dependencies"]["testing"] == [f"{doubles['name']}=={base['version']}"]
    assert doubles["requires-python"] == base["requires-python"]


def test_what_the_doubles_import_is_declared() -> None:
    base, doubles = (tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (SOURCE, DOUBLES))
    declared = {re.match(r"[\w-]+", each)[0].lower() for each in (*base["dependencies"], *doubles["dependencies"])}  # type: ignore[index]
    lines = (line for path in DOUBLES.rglob("*.py") for line in path.read_text().splitlines())
    imported = {found[1] for line in lines if (found := re.match(r"(?:from|import) (\w+)", line))}
    providers = packages_distributions()
    wanted = {providers[name][0].lower() for name in imported - sys.stdlib_module_names if name in providers}
    assert wanted - declared == set()
    assert {"jsonschema", "markdown-it-py", "pydantic"} <= wanted
