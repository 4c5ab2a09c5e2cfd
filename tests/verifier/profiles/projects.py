"""Small projects for these tests, as files, and the tools on this machine that they can be tried with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Prepared, Request, Unavailable
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.prepare import prepare
from tests.verifier.made_projects import write

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>acme</groupId><artifactId>{name}</artifactId><version>1</version>{more}
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></build></project>"""
SEARCH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

MAVEN = {
    "pom.xml": POM.format(
        name="all",
        more="<packaging>pom</packaging><modules><module>service-a</module><module>libs/core</module></modules>",
    ),
    "service-a/pom.xml": POM.format(name="service-a", more=""),
    "service-a/src/main/java/A.java": "public class A { int one() { return 1; } }\n",
    "service-a/src/test/java/ATest.java": (
        "import static org.junit.jupiter.api.Assertions.assertEquals;\nimport org.junit.jupiter.api.Test;\n"
        "class ATest {\n @Test void one() { assertEquals(1, new A().one()); }\n"
        " @Test void isWrong() { assertEquals(2, new A().one()); }\n}\n"
    ),
    "libs/core/pom.xml": POM.format(name="core", more=""),
    "libs/core/src/main/java/B.java": "public class B { }\n",
}
GRADLE = {
    "settings.gradle": "include ':service-a', ':libs:core' // include 'gone'\n",
    "build.gradle": "allprojects { apply plugin: 'java' }\n",
    "service-a/src/main/java/A.java": "public class A { }\n",
    "libs/core/src/main/java/B.java": "public class B { }\n",
}
PYTEST = {
    "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n",
    "calc.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_calc.py": (
        "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_adds(n: int) -> None:\n    assert add(n, 1) == n + 1\n\n\n"
        "def test_is_wrong() -> None:\n    assert add(1, 1) == 3\n"
    ),
}
UNITTEST = {
    "setup.py": "",
    "src/calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": (
        "import unittest\n\nfrom calc import add\n\n\nclass CalcTest(unittest.TestCase):\n"
        "    def test_adds(self):\n        self.assertEqual(add(1, 1), 2)\n\n"
        "    def test_is_wrong(self):\n        self.assertEqual(add(1, 1), 3)\n"
    ),
}
GO = {
    "go.mod": "module acme\n\ngo 1.19\n",
    "calc/calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    "calc/calc_test.go": (
        'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tt.Run("one two", func(t *testing.T) {\n'
        "\t\tif Add(1, 2) != 3 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n\n"
        'func TestIsWrong(t *testing.T) {\n\tt.Error("wrong")\n}\n'
    ),
}
CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
    "crates/calc/Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "crates/calc/src/lib.rs": (
        "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn adds() {\n        assert_eq!(add(1, 1), 2);\n    }\n\n"
        "    #[test]\n    fn is_wrong() {\n        assert_eq!(add(1, 1), 3);\n    }\n}\n"
    ),
}
MAKE = {
    "Makefile": (
        "PROGRAM = calc\nall: $(PROGRAM)\n$(PROGRAM): main.c\n\t$(CC) -o $@ $<\n"
        "test: $(PROGRAM)\n\t./$(PROGRAM) 1\n.PHONY: all test\n"
    ),
    "main.c": "int main(int count, char **words) { (void)words; return count - 2; }\n",
}
CMAKE = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.16)\nproject(calc C)\nenable_testing()\nadd_executable(calc main.c)\n"
        "add_test(NAME adds COMMAND calc 1)\nadd_test(NAME is.wrong COMMAND calc)\n"
    ),
    "main.c": "int main(int count, char **words) { (void)words; return count - 2; }\n",
}
DJANGO = {
    "manage.py": "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
    "cart/tests.py": "import pytest\nfrom django.test import TestCase\n",
}
MESON = {
    "meson.build": (
        "project('calc', 'c')\nexe = executable('calc', 'main.c')\n"
        "test('adds', exe, args: ['1'])\ntest('is.wrong', exe)\n"
    ),
    "main.c": CMAKE["main.c"],
}
NODE = {
    "package.json": '{"name": "acme", "workspaces": ["packages/*"], "scripts": {"test": "node --test test/"}}',
    "test/calc.test.js": (
        "const { test } = require('node:test');\nconst assert = require('node:assert');\n"
        "test('adds (1 + 1)', () => assert.equal(1 + 1, 2));\ntest('is wrong', () => assert.equal(1 + 1, 3));\n"
    ),
    "packages/cli/package.json": '{"name": "cli", "scripts": {"test": "jest --ci"}}',
}


def project(root: Path, files: dict[str, str]) -> Path:
    root.mkdir(exist_ok=True)
    return write(root, files)


def stand_in(root: Path, *names: str) -> str:
    """A folder with empty programs of these names, as a search path: they are found, and never started."""
    folder = root.parent / f"{root.name}-programs"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    return str(folder)


def ask(
    root: Path, profile: str, tool: Tool, module: str | None = None, selector: str | None = None, search: str = SEARCH
) -> Prepared | Unavailable:
    """What the profile makes of a request, with a report folder beside the project."""
    return prepare(load_profile(profile), root, Request(tool, module, selector), reports_of(root), search=search)


def command(
    root: Path, profile: str, tool: Tool, module: str | None = None, selector: str | None = None, search: str = SEARCH
) -> Prepared:
    """The same, where there has to be a command."""
    prepared = ask(root, profile, tool, module, selector, search)
    assert isinstance(prepared, Prepared), prepared
    return prepared


def reports_of(root: Path) -> Path:
    folder = root.parent / f"{root.name}-reports"
    folder.mkdir(exist_ok=True)
    return folder


def needs(*programs: str) -> None:
    """Skip the test where one of these is not on this machine."""
    missing = [name for name in programs if shutil.which(name, path=SEARCH) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not on this machine")


def run(prepared: Prepared, home: Path) -> tuple[int, str]:
    """The exit code and the output of a prepared command, run as it stands; earlier commands first."""
    environment = {"PATH": SEARCH, "HOME": str(home), "TMPDIR": str(home), **_toolchains(), **prepared.environment}
    output = ""
    for argv in (*prepared.before, prepared.argv):
        ended = subprocess.run(
            argv, cwd=prepared.cwd, env=environment, capture_output=True, text=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        output += ended.stdout + ended.stderr
        if ended.returncode:
            break
    return ended.returncode, output


def _toolchains() -> dict[str, str]:
    """Where the person's own toolchains lie, as a home of its own hides them."""
    home = Path.home()
    places = {"CARGO_HOME": home / ".cargo", "RUSTUP_HOME": home / ".rustup", "PYENV_ROOT": home / ".pyenv"}
    return {name: os.environ.get(name, str(place)) for name, place in places.items() if place.is_dir()}
