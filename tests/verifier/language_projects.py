"""A small project in each language, with one right and one wrong test, and what its tools have to say of it.

They are real projects for real tools; a test that needs a tool which is not on this machine is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_fox.verifier.ground.results import Tool
from tests.verifier.profiles import projects


@dataclass(frozen=True, slots=True)
class Place:
    """Where a failure has to be found. None: the tool does not say."""

    file: str | None
    line: int | None
    test: str | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """A project as it stands (`files`), and edits of it.

    clean: tools that pass on `files`. one: selector of its right test. failing: where its wrong test is found.
    repair: makes the wrong test pass. broken: does not compile, at `uncompiled`. is_counted: whether tests are counted.
    """

    name: str
    profile: str
    programs: tuple[str, ...]
    files: Mapping[str, str]
    failing: Place
    clean: tuple[Tool, ...] = (Tool.COMPILE,)
    one: str = ""
    repair: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    uncompiled: Place = Place(None, None)
    is_counted: bool = True


_CALC = "def add(a: int, b: int) -> int:\n    return a + b\n"
_PYTHON_TEST = """\
from calc import add


def test_adds() -> None:
    assert add(1, 1) == 2


def test_is_wrong() -> None:
    assert add(1, 1) == 3
"""
PYTHON = Language(
    "python",
    "python",
    ("mypy", "ruff"),
    {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n[tool.ruff]\n[tool.mypy]\n',
        "calc.py": _CALC,
        "tests/test_calc.py": _PYTHON_TEST,
    },
    Place("tests/test_calc.py", 9, "tests/test_calc.py::test_is_wrong"),
    clean=(Tool.COMPILE, Tool.LINT, Tool.FORMAT_CHECK, Tool.DEPENDENCY_TREE),
    one="tests/test_calc.py::test_adds",
    repair={"tests/test_calc.py": _PYTHON_TEST.replace("== 3", "== 2")},
    broken={"calc.py": _CALC + "\n\ndef double(:\n"},
    uncompiled=Place("calc.py", 5),
)

_UNITTEST = projects.UNITTEST["tests/test_calc.py"]
UNITTEST = Language(
    "python-unittest",
    "python",
    (),
    projects.UNITTEST,
    Place("tests/test_calc.py", 11, "test_calc.CalcTest.test_is_wrong"),
    one="test_calc.CalcTest.test_adds",
    repair={"tests/test_calc.py": _UNITTEST.replace(", 3)", ", 2)")},
)

_MAVEN_TEST = projects.MAVEN["service-a/src/test/java/ATest.java"]
MAVEN = Language(
    "java-maven",
    "java-maven",
    ("mvn", "javac"),
    projects.MAVEN,
    Place("service-a/src/test/java/ATest.java", 5, "ATest.isWrong"),
    clean=(),
    one="ATest#one",
    broken={"service-a/src/main/java/A.java": 'public class A {\n int one() { return "1"; }\n}\n'},
    uncompiled=Place("service-a/src/main/java/A.java", 2),
)
GRADLE = Language(
    "java-gradle",
    "java-gradle",
    ("gradle", "javac"),
    projects.GRADLE,
    Place(None, None),
    broken={"libs/core/src/main/java/B.java": 'public class B {\n int one() { return "1"; }\n}\n'},
    uncompiled=Place("libs/core/src/main/java/B.java", 2),
)

_NODE_TEST = projects.NODE["test/calc.test.js"]
NODE = Language(
    "javascript-node",
    "javascript-npm",
    ("node", "npm"),
    {"package.json": '{"name": "acme", "scripts": {"test": "node --test test/"}}', "test/calc.test.js": _NODE_TEST},
    Place("test/calc.test.js", 4, "is wrong"),
    clean=(Tool.DEPENDENCY_TREE,),
    one="test/calc.test.js::adds (1 + 1)",
    repair={"test/calc.test.js": _NODE_TEST.replace(", 3)", ", 2)")},
)

_GO_TEST = projects.GO["calc/calc_test.go"]
GO = Language(
    "go",
    "go",
    ("go", "gofmt"),
    projects.GO,
    Place("calc/calc_test.go", 14, "TestIsWrong"),
    clean=(Tool.COMPILE, Tool.LINT, Tool.FORMAT_CHECK, Tool.DEPENDENCY_TREE),
    one="calc::TestAdds",
    repair={"calc/calc_test.go": _GO_TEST.replace('t.Error("wrong")', 't.Log("right")')},
    broken={"calc/calc.go": 'package calc\n\nfunc Add(a, b int) int { return "three" }\n'},
    uncompiled=Place("calc/calc.go", 3),
)

_LIB = projects.CARGO["crates/calc/src/lib.rs"]
RUST = Language(
    "rust",
    "rust-cargo",
    ("cargo", "cargo-clippy", "cargo-fmt"),
    projects.CARGO,
    Place("crates/calc/src/lib.rs", 16, "tests::is_wrong"),
    clean=(Tool.COMPILE, Tool.LINT, Tool.FORMAT_CHECK, Tool.DEPENDENCY_TREE),
    one="tests::adds",
    repair={"crates/calc/src/lib.rs": _LIB.replace("1), 3)", "1), 2)")},
    broken={"crates/calc/src/lib.rs": _LIB.replace("a + b", '"three"')},
    uncompiled=Place("crates/calc/src/lib.rs", 2),
)

_ADD = "int add(int a, int b) { return a + b; }\n"
_CHECK = (
    "#include <assert.h>\nint add(int a, int b);\nint main(void) {\n    assert(add(1, 1) == 3);\n    return 0;\n}\n"
)
MAKE = Language(
    "c-make",
    "c-make",
    ("make", "gcc"),
    {
        "Makefile": "all: calc.o\ncheck: check.c calc.o\n\t$(CC) -o $@ $^\ntest: check\n\t./check\n.PHONY: all test\n",
        "calc.c": _ADD,
        "check.c": _CHECK,
    },
    Place("check.c", 4),
    repair={"check.c": _CHECK.replace("== 3", "== 2")},
    broken={"calc.c": _ADD + "int half(int a) { return a / two; }\n"},
    uncompiled=Place("calc.c", 2),
    is_counted=False,
)
CMAKE = Language(
    "c-cmake",
    "c-cmake",
    ("cmake", "gcc", "make"),
    projects.CMAKE,
    Place(None, None, "is.wrong"),
    one="adds",
    repair={"CMakeLists.txt": projects.CMAKE["CMakeLists.txt"].replace("calc)\n", "calc 1)\n")},
    broken={"main.c": "int main(void) {\n    return nothing;\n}\n"},
    uncompiled=Place("main.c", 2),
)
MESON = Language(
    "c-meson",
    "c-meson",
    ("meson", "ninja", "gcc"),
    projects.MESON,
    Place(None, None, "calc.is.wrong"),
    one="adds",
    repair={"meson.build": projects.MESON["meson.build"].replace("wrong', exe)", "wrong', exe, args: ['1'])")},
    broken={"main.c": "int main(void) {\n    return nothing;\n}\n"},
    uncompiled=Place("main.c", 2),
)

LANGUAGES = (PYTHON, UNITTEST, MAVEN, GRADLE, NODE, GO, RUST, MAKE, CMAKE, MESON)
