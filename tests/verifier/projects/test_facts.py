"""What a project uses, and which of its settings leave tests out."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.projects.detect import detect, detected
from agent_fox.verifier.projects.facts import facts_of, to_verify
from agent_fox.verifier.projects.facts_javascript import read_script
from agent_fox.verifier.projects.manifests import Manifests
from agent_fox.verifier.projects.systems import Facts, Place
from tests.verifier.made_projects import write

SPOTLESS = "<plugin><artifactId>spotless-maven-plugin</artifactId></plugin>"
IGNORES = "<testFailureIgnore>true</testFailureIgnore>"


def facts(root: Path, files: dict[str, str]) -> Facts:
    (system, *_) = detect(write(root, files)).systems
    return facts_of(Manifests(root), Place(system, system.root))


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets"),
    [
        ("jest", "jest", (), ()),
        ("jest --runInBand src", "jest", ("--runInBand",), ("src",)),
        ("cross-env NODE_ENV=test jest --ci", "jest", ("--ci",), ()),
        ("vitest run --config v.ts", "vitest", ("--config", "v.ts"), ()),
        (
            "npm run lint && mocha -r ts-node/register 'test/**/*.ts'",
            "mocha",
            ("-r", "ts-node/register"),
            ("test/**/*.ts",),
        ),
        ("node --import tsx --test src/a.test.ts", "node-test", ("--import", "tsx"), ("src/a.test.ts",)),
        ("./node_modules/.bin/jest", "jest", (), ()),
        ("nyc tape 'test/**/*.js'", "tape", (), ("test/**/*.js",)),
        ("uvu -r esm test -i fixtures", "uvu", ("-r", "esm", "-i", "fixtures"), ("test",)),
        ("c8 ava --tap --serial", "ava", ("--serial",), ()),
        ("tap -R spec test", "tap", (), ("test",)),
        ("mocha --ignore test/old.js test", "mocha", (), ("test",)),
    ],
)
def test_a_test_script_is_read_for_its_runner(
    script: str, runner: str, options: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    read = read_script(script)
    assert read is not None
    assert (read.runner, read.options, read.targets) == (runner, options, targets)


OTHERS = {
    "lint": "eslint .",
    "unit": "nyc --reporter=lcov --reporter text mocha --require test/support/env",
    "test:types": "tsc --noEmit",
    "test:spec": "vitest run",
    "api": "node --conditions development test/index.js",
    "cover": "c8 --100 --reporter lcov -- npm run api",
    "round": "npm run round",
}


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets"),
    [
        ("npm run lint && npm run unit", "mocha", ("--require", "test/support/env"), ()),
        ("npm run unit -- --exit", "mocha", ("--require", "test/support/env", "--exit"), ()),
        ('pnpm run "/^test:.*/"', "vitest", (), ()),
        ("pnpm run /^test:/", "vitest", (), ()),
        ("yarn unit", "mocha", ("--require", "test/support/env"), ()),
        ("pnpm lint && pnpm vitest run", "vitest", (), ()),
        ("npm run lint && npm run cover", "node-test", ("--conditions", "development"), ("test/index.js",)),
        ("node test.js", "node-test", (), ("test.js",)),
    ],
)
def test_a_script_that_calls_others_is_followed(
    script: str, runner: str, options: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    read = read_script(script, OTHERS)
    assert read is not None
    assert (read.runner, read.options, read.targets) == (runner, options, targets)


@pytest.mark.parametrize("script", ["npm run round", "npm run lint", "npm run", "node scripts/check.js test/a.js"])
def test_a_script_that_leads_to_no_runner_is_not_guessed(script: str) -> None:
    assert read_script(script, OTHERS) is None


@pytest.mark.parametrize(
    "others",
    [
        {"": "npm run x", "x": ""},
        {f"x{number}": 'npm run "/^x/"' for number in range(1_000)},
        {"x": "npm run y;" * 20_000, "y": "npm run z;" * 20_000, "z": ""},
    ],
)
def test_scripts_that_call_one_another_without_end_are_given_up(others: dict[str, str]) -> None:
    assert read_script('npm run x; npm run "/^x/"', others) is None


@pytest.mark.parametrize("script", ["", "make test", "tsc", "jest | tee log", "echo $(jest)", "karma start"])
def test_a_script_without_a_known_runner_is_not_guessed(script: str) -> None:
    assert read_script(script) is None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("jest --passWithNoTests", "--passWithNoTests"),
        ("jest --testPathIgnorePatterns=slow", "--testPathIgnorePatterns=slow"),
        ("mocha --grep fast", "--grep"),
        ("NODE_OPTIONS='--require ./x.js' jest", "NODE_OPTIONS"),
        ("tsc && jest", "does more than"),
        ("ava --match=*fast*", "--match=*fast*"),
        ("tape --ignore .skipped", "--ignore"),
        ("tap --bail", "--bail"),
        ("uvu --bail", "--bail"),
    ],
)
def test_what_a_script_says_to_leave_tests_out_is_left_aside_and_told(script: str, said: str) -> None:
    read = read_script(script)
    assert read is not None
    assert (read.options, read.targets, read.variables) == ((), (), ())
    assert any(said in note for note in read.notes)


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
        ({"pom.xml": f"<a><plugins>{SPOTLESS}</plugins></a>"}, "spotless"),
        ({"build.gradle": "plugins { id 'checkstyle' }"}, "checkstyle"),
        ({"package.json": "{}", "tsconfig.json": "{}"}, "typescript"),
        ({"package.json": "{}", "eslint.config.mjs": ""}, "eslint"),
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


def test_ordinary_settings_are_not_told(tmp_path: Path) -> None:
    text = '[tool.pytest.ini_options]\naddopts = "-q --strict-markers -ra"\nminversion = "8"'
    assert facts(tmp_path, {"pyproject.toml": text}).notes == ()
