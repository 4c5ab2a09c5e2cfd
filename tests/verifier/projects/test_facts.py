"""What a project uses, and which of its settings leave tests out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.verifier.projects.detect import detect, detected
from agent_fox.verifier.projects.facts import facts_of, to_verify
from agent_fox.verifier.projects.manifests import Manifests
from agent_fox.verifier.projects.systems import Facts, Place
from tests.verifier.made_projects import write

MANAGE = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n"
SPOTLESS = "<plugin><artifactId>spotless-maven-plugin</artifactId></plugin>"
IGNORES = "<testFailureIgnore>true</testFailureIgnore>"


def facts(root: Path, files: dict[str, str]) -> Facts:
    (system, *_) = detect(write(root, files)).systems
    return facts_of(Manifests(root), Place(system, system.root))


HATCH = '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\n[tool.pytest.ini_options]\n'


@pytest.mark.parametrize(
    ("files", "collected"),
    [
        ({"tox.ini": "[testenv]\ncommands = pytest {posargs:tests/}\n"}, ("tests/",)),
        ({"tox.ini": "[testenv:py{311,312}]\ncommands =\n    coverage run -m pytest tests --strict\n"}, ("tests",)),
        ({"tox.ini": "[testenv]\ncommands = pytest --cov=x {posargs} tests bench\n"}, ("tests", "bench")),
        ({"tox.ini": "[testenv:b]\ncommands=pytest bench\n[testenv]\ncommands=pytest {posargs:tests}\n"}, ("tests",)),
        ({"tox.ini": "[testenv]\ncommands = python -m pytest tests -k fast\n"}, ("tests",)),
        ({"tox.ini": "[testenv]\ncommands = pytest {tty:--x} {posargs:tests/test_a.py}\n"}, ("tests/test_a.py",)),
        ({"pyproject.toml": HATCH}, ("tests",)),
        ({"tox.ini": "[testenv:bench]\ncommands = pytest bench\n"}, ()),
        ({"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"}, ()),
        ({"tox.ini": "[testenv]\ncommands = pytest {posargs:-n auto}\n"}, ()),
        ({"tox.ini": "[testenv]\ncommands = pytest tests/unit\n"}, ()),
        ({"tox.ini": "[testenv]\ncommands = pytest ../tests\n"}, ()),
        ({"tox.ini": "[pytest]\ntestpaths = bench\n[testenv]\ncommands = pytest {posargs:tests}\n"}, ()),
        ({"pyproject.toml": f"{HATCH}testpaths = ['bench']\n"}, ()),
        ({"tox.ini": "[testenv]\ncommands = flake8 tests\n"}, ()),
    ],
)  # fmt: skip
def test_pytest_is_given_the_folders_that_the_project_s_own_command_names(
    tmp_path: Path, files: dict[str, str], collected: tuple[str, ...]
) -> None:
    found = facts(tmp_path, {"setup.py": "", "tests/test_a.py": "import pytest\n", "bench/conftest.py": "", **files})
    assert found.lists["collected"] == collected
    assert any("as the project's own command does" in note for note in found.notes) == bool(collected)


@pytest.mark.parametrize(
    ("ignored", "scripts", "before", "is_told"),
    [
        ("dist/", {"test": "node --test dist/test/*.js", "build": "tsc"}, [("tsc",)], False),
        ("/dist-*", {"test": "node --test dist-node/test/*.js", "build": "./build.sh"}, [("./build.sh",)], False),
        ("dist", {"test": "node --test dist/a.js", "build": "turbo build"}, [], True),
        ("dist", {"test": "node --test dist/a.js"}, [], True),
        ("dist", {"test": "tsc && node --test dist/a.js"}, [("tsc",)], False),
        ("dist", {"test": "node --test test/a.js", "build": "tsc"}, [], False),
        ("# dist\n!dist\n*.tgz", {"test": "node --test dist/a.js", "build": "tsc"}, [], False),
    ],
)
def test_tests_that_a_build_makes_are_built_first_or_are_no_pass(
    tmp_path: Path, ignored: str, scripts: dict[str, str], before: list[tuple[str, ...]], is_told: bool
) -> None:
    found = facts(tmp_path, {"package.json": json.dumps({"scripts": scripts}), ".gitignore": ignored})
    assert (list(found.before), bool(found.missing)) == (before, is_told)
    assert bool(found.products) == bool(before)


@pytest.mark.parametrize(
    ("script", "runner"),
    [
        ("turbo run test", ""),
        ("pnpm -r test", ""),
        ("pnpm --filter './packages/**' test", ""),
        ("npm test --workspaces --if-present", ""),
        ("npm run test -ws", ""),
        ("yarn workspaces foreach -A run test", ""),
        ("npx nx run-many -t test", ""),
        ("lerna run test", ""),
        ("vitest run --workspace vitest.workspace.ts", "vitest"),
        ("zap test", "vitest"),
        ("node tools/nxt.js", "vitest"),
    ],
)
def test_a_script_that_hands_on_to_packages_is_not_answered_by_a_runner_of_the_root(
    tmp_path: Path, script: str, runner: str
) -> None:
    root = {"workspaces": ["packages/*"], "scripts": {"test": script}, "devDependencies": {"vitest": "3"}}
    files = {"package.json": json.dumps(root), "packages/a/package.json": '{"name": "a"}'}
    assert facts(tmp_path, files).traits & {"vitest"} == ({runner} if runner else set())
    alone = {"package.json": json.dumps({**root, "workspaces": []}), "packages/a/package.json": ""}
    assert facts(tmp_path / "alone", alone).traits & {"vitest"} == {"vitest"}


@pytest.mark.parametrize("files", [
    {"manage.py": MANAGE, "requirements.txt": "pytest-django==4\n"},
    {"manage.py": MANAGE, "pyproject.toml": '[dependency-groups]\ndev = ["pytest_django>=4"]'},
    {"manage.py": "from flask_script import Manager\n"},
    {"tools/manage.py": MANAGE, "setup.py": ""},
])  # fmt: skip
def test_django_is_not_taken_where_pytest_runs_its_tests_or_manage_py_is_another(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert "django" not in facts(tmp_path, files).traits


@pytest.mark.parametrize(
    ("script", "runner", "options"),
    [
        ("zap test", "vitest", ("--passWithNoTests",)),
        ("vitest run", "vitest", ()),
        ('echo "Error: no test specified" && exit 1', "vitest", ()),
        ("zap test", "jest", ()),
    ],
)
def test_a_file_without_tests_is_no_failure_where_an_unknown_program_is_to_start_vitest(
    tmp_path: Path, script: str, runner: str, options: tuple[str, ...]
) -> None:
    package = {"scripts": {"test": script}, "devDependencies": {runner: "3"}}
    assert facts(tmp_path, {"package.json": json.dumps(package)}).lists["script"] == options


def test_an_unknown_script_is_told_with_what_it_says(tmp_path: Path) -> None:
    found = facts(tmp_path, {"package.json": '{"scripts": {"test": "karma start"}}'})
    assert not found.traits & {"jest", "vitest", "mocha", "node-test"}
    assert "karma start" in found.notes[0]


@pytest.mark.parametrize(
    ("files", "trait"),
    [
        ({"pytest.ini": "[pytest]"}, "pytest"),
        ({"requirements-dev.txt": "pytest==8\n", "setup.py": ""}, "pytest"),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]'}, "pytest"),
        ({"pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"'}, "pytest"),
        ({"setup.py": "", "tests/test_a.py": "def test_a():\n    pass\n"}, "pytest"),
        ({"pyproject.toml": "[tool.black]"}, "black"),
        ({"setup.cfg": "[mypy]\nstrict = true"}, "mypy"),
        ({"ruff.toml": "", "setup.py": ""}, "ruff"),
        ({"manage.py": MANAGE, "requirements.txt": "Django==5.1\n", "shop/tests.py": ""}, "django"),
        ({"manage.py": MANAGE, "requirements.txt": "pytest\n"}, "django"),
        ({"pom.xml": f"<a><plugins>{SPOTLESS}</plugins></a>"}, "spotless"),
        ({"build.gradle": "plugins { id 'checkstyle' }"}, "checkstyle"),
        ({"package.json": "{}", "tsconfig.json": "{}"}, "typescript"),
        ({"package.json": "{}", "eslint.config.mjs": ""}, "eslint"),
        ({"package.json": '{"devDependencies": {"@biomejs/biome": "2"}}'}, "biome"),
        ({"package.json": "{}", "biome.jsonc": ""}, "biome"),
        ({"package.json": '{"xo": {"semicolon": false}}'}, "xo"),
        ({"package.json": "{}", ".oxlintrc.json": "{}"}, "oxlint"),
        ({"package.json": "{}", "test/a.test.js": ""}, "node-test"),
        ({"package.json": '{"devDependencies": {"uvu": "0.5"}}', "test/a.test.js": ""}, "uvu"),
        ({"package.json": '{"scripts": {"test": "node test.js"}, "ava": {}}'}, "node-test"),
        ({"package.json": "{}", ".taprc": ""}, "tap"),
    ],
)  # fmt: skip
def test_a_tool_is_in_use_where_a_manifest_says_so(tmp_path: Path, files: dict[str, str], trait: str) -> None:
    assert trait in facts(tmp_path, files).traits


@pytest.mark.parametrize(
    "files",
    [
        {"tox.ini": "[testenv]\ndeps =\n    pytest\n    pytest-cov\n"},
        {"tox.ini": "[testenv:py]\ncommands = python -m pytest {posargs}\n"},
        {"tox.ini": "[testenv]\ncommands =\n    py.test --cov=a\n"},
        {"setup.cfg": "[options.extras_require]\ntest =\n    pytest>=7\n"},
        {"setup.py": "setup(extras_require={'test': ['pytest>=3']})"},
        {"setup.py": "", "noxfile.py": "def tests(session):\n    session.run('pytest', *session.posargs)\n"},
        {"pyproject.toml": '[tool.hatch.envs.default]\ndependencies = ["pytest"]'},
        {"pyproject.toml": '[tool.hatch.envs.test.scripts]\nrun = "pytest {args:tests}"'},
        {"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["pytest>=8"]'},
        {"pyproject.toml": '[tool.uv]\ndev-dependencies = ["pytest>=8"]'},
        {"pyproject.toml": '[tool.tox.env_run_base]\ncommands = [["pytest", "-q"]]'},
        {"Pipfile": '[dev-packages]\npytest = "*"\n'},
    ],
)
def test_pytest_is_in_use_where_what_starts_the_tests_names_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert "pytest" in facts(tmp_path, files).traits


@pytest.mark.parametrize(
    "files",
    [
        {"tox.ini": "[testenv]\ncommands = python -m unittest\n"},
        {"tox.ini": "[testenv]\ndeps = pytest-mypy\n# pytest\ncommands = python -m unittest\n"},
        {"tox.ini": "[gh]\npython = pytest\n"},
        {"setup.py": "# pytest\nsetup(extras_require={'lint': ['pytest-lookalike']})"},
        {"pyproject.toml": '[tool.hatch.envs.default]\ndependencies = ["a[pytest]"]'},
        {"pyproject.toml": '[tool.uv.sources]\nother = { path = "vendor/pytest" }'},
    ],
)
def test_a_word_like_pytest_is_no_use_of_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert "pytest" not in facts(tmp_path, files).traits


def test_a_submodule_that_is_not_checked_out_is_told_with_the_command(tmp_path: Path) -> None:
    modules = '[submodule "a"]\n\tpath = tests/a\n\turl = u\n[submodule "b"]\n\tpath = tests/b\n'
    files = {"setup.py": "", ".gitmodules": modules, "tests/b/here.txt": "x"}
    (tmp_path / "tests" / "a").mkdir(parents=True)
    told = [note for note in facts(tmp_path, files).notes if "submodule" in note]
    assert told == ["the submodule tests/a is not checked out: git submodule update --init"]


def test_a_plugin_of_pytest_alone_is_not_pytest(tmp_path: Path) -> None:
    assert "pytest" not in facts(tmp_path, {"requirements.txt": "pytest-randomly-lookalike\n"}).traits


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pom.xml": "<project/>", ".mvn/maven.config": "-DskipTests\n"}, ".mvn/maven.config"),
        ({"pom.xml": "<project/>", ".mvn/jvm.config": "-Dmaven.test.skip=true"}, ".mvn/jvm.config"),
        ({"pom.xml": "<project><properties><skipTests>true</skipTests></properties></project>"}, "pom.xml"),
        ({"pom.xml": f"<a><configuration>{IGNORES}</configuration></a>"}, "pom.xml"),
        ({"build.gradle": "test {\n  enabled = false\n}"}, "build script"),
        ({"build.gradle": "test.ignoreFailures = true"}, "build script"),
        ({"pytest.ini": "[pytest]\naddopts = -q --deselect tests/test_a.py"}, "--deselect"),
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-m", "not slow"]'}, "by marks"),
        ({"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["unit"]'}, "testpaths"),
        ({"tox.ini": "[pytest]\npython_files = check_*.py"}, "python_files"),
        ({"package.json": '{"jest": {"testPathIgnorePatterns": ["slow"]}}'}, "testPathIgnorePatterns"),
        ({"Cargo.toml": "[lib]\ntest = false"}, "test = false"),
        ({"CMakeLists.txt": "set_tests_properties(a PROPERTIES WILL_FAIL TRUE)"}, "WILL_FAIL"),
        ({"Makefile": "test: a\n\t-./run_tests\n", "a.c": ""}, "ignores failures"),
    ],
)  # fmt: skip
def test_settings_that_leave_tests_out_are_told(tmp_path: Path, files: dict[str, str], said: str) -> None:
    assert any(said in note for note in facts(tmp_path, files).notes)


@pytest.mark.parametrize(
    ("cmake", "makefile", "kinds"),
    [
        ("project(a C)\n", "all: a\ntest: a\n\t./a\n", ["make"]),
        ("project(a C)\n", "check: a\n\t./a\n", ["make"]),
        ("project(a C)\n", "all: a\n", ["cmake"]),
        ("project(a C)\nenable_testing()\n", "test: a\n\t./a\n", ["cmake"]),
        ("project(a C)\nINCLUDE( CTest )\n", "test: a\n\t./a\n", ["cmake"]),
        ("project(a C)\n# enable_testing comes later\n", "test: a\n\t./a\n", ["make"]),
    ],
)
def test_of_cmake_and_a_makefile_the_one_that_names_tests_is_taken(
    tmp_path: Path, cmake: str, makefile: str, kinds: list[str]
) -> None:
    files = {"CMakeLists.txt": cmake, "Makefile": makefile, "a.c": "", "package.json": "{}"}
    manifests = Manifests(write(tmp_path, files))
    taken = to_verify(manifests, detected(manifests).systems)
    assert [system.kind for system in taken] == ["npm", *kinds]
    assert any("beside" in note for note in facts_of(manifests, Place(taken[1], ".")).notes)


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ({"meson.build": "project('a', 'c')\nsubdir('tests')\n", "tests/meson.build": "test('a', exe)\n"}, ["meson"]),
        ({"meson.build": "project('a', 'c')\n", "Makefile": "test: a\n\t./a\n"}, ["make"]),
        ({"meson.build": "project('a', 'c')\ntest('a', exe)\n", "Makefile": "test: a\n\t./a\n"}, ["meson"]),
        ({"meson.build": "project('a', 'c')\ntest('a', exe)\n", "CMakeLists.txt": "project(a C)\n"}, ["meson"]),
        ({"meson.build": "project('a', 'c')\ntest('a', e)\n", "CMakeLists.txt": "enable_testing()\n"}, ["cmake"]),
        ({"meson.build": "executable('a', 'a.c')\n"}, []),
        ({"meson.build": "project('a', 'c')\n", "pyproject.toml": "build-backend = 'mesonpy'\n"}, ["python"]),
    ],
)  # fmt: skip
def test_meson_is_taken_where_it_names_tests_and_builds_no_package_of_python(
    tmp_path: Path, files: dict[str, str], kinds: list[str]
) -> None:
    manifests = Manifests(write(tmp_path, {"a.c": "", **files}))
    taken = to_verify(manifests, detected(manifests).systems)
    assert [system.kind for system in taken] == kinds
    notes = [note for system in taken for note in facts_of(manifests, Place(system, ".")).notes if "beside" in note]
    others = {"meson.build", "CMakeLists.txt", "Makefile"} & files.keys() if kinds not in ([], ["python"]) else set()
    assert len(notes) == max(0, len(others) - 1)


def test_ordinary_settings_are_not_told(tmp_path: Path) -> None:
    text = '[tool.pytest.ini_options]\naddopts = "-q --strict-markers -ra"\nminversion = "8"'
    assert facts(tmp_path, {"pyproject.toml": text}).notes == ()
