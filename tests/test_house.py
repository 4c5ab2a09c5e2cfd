"""The house itself: how the code reads, who imports whom, and that the documents keep to their form."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agent_fox.engine.record import docket

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agent_fox"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HOUSE = tomllib.loads((ROOT / "tests" / "house.toml").read_text(encoding="utf-8"))

LONGEST_MEDIAN = 9
LONGEST_FUNCTION = 60
LARGEST_ROOM = 20

# Plugins raise what they like, and the command line is the last one to catch anything.
MAY_CATCH_ALL = (
    "cli/",
    "plugins.py",
    "engine/planning/extensions.py",
    "engine/issues/courier.py",
    "engine/running/scheduler.py",
    "session/local_runner.py",
)

WORDS = (
    *("spec", "requirement", "task group", "node", "session", "ticket", "launch", "attempt", "reading", "verdict"),
    *("report", "judgement", "disposition", "decision", "outcome", "standing", "brief", "blocking history"),
    *("outbox", "ledger", "waiver"),
)
ADR_SECTIONS = ["What we saw", "What we chose", "What it costs", "What would change our mind"]
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
ONE_SCREEN = 45


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lengths() -> dict[str, int]:
    return {
        f"{name_of(path)}:{function.lineno} {function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path in SOURCES
        for function in functions(tree_of(path))
    }


def test_a_function_is_a_paragraph() -> None:
    found = lengths()
    assert statistics.median(found.values()) <= LONGEST_MEDIAN
    assert {name: lines for name, lines in found.items() if lines > LONGEST_FUNCTION} == {}


def test_an_import_inside_a_function_says_why() -> None:
    unexplained = [
        f"{name_of(path)}:{inner.lineno}"
        for path in SOURCES
        for function in functions(tree_of(path))
        for inner in ast.walk(function)
        if isinstance(inner, ast.Import | ast.ImportFrom) and not has_reason(path, inner.lineno)
    ]
    assert unexplained == []


def has_reason(path: Path, line: int) -> bool:
    """Whether a line ends in a comment with words beside the name of a check."""
    _, _, comment = path.read_text(encoding="utf-8").splitlines()[line - 1].partition("#")
    return len(re.sub(r"noqa: ?[A-Z0-9, ]+", "", comment).split()) > 1


def test_a_late_module_is_the_one_that_its_types_are_read_from() -> None:
    wrong = [
        f"{name_of(path)}: {name}"
        for path in SOURCES
        for choice in tree_of(path).body
        if isinstance(choice, ast.If) and ast.unparse(choice.test) == "TYPE_CHECKING"
        for name, module in late_modules(choice.orelse).items()
        if imported(choice.body).get(name) != module
    ]
    assert wrong == []


def late_modules(body: list[ast.stmt]) -> dict[str, str]:
    """Name -> module, of lines such as `keys = late_module("agent_fox.evidence.signing.keys")`."""
    found = (ast.unparse(line).partition(" = late_module(") for line in body)
    return {name: ast.literal_eval(f"({module}") for name, _, module in found if module}


def imported(body: list[ast.stmt]) -> dict[str, str]:
    """Name -> what it is imported from."""
    names = [(node, one) for node in body if isinstance(node, ast.Import | ast.ImportFrom) for one in node.names]
    return {
        one.asname or one.name: f"{node.module}.{one.name}" if isinstance(node, ast.ImportFrom) else one.name
        for node, one in names
    }


def catches_all(handler: ast.ExceptHandler) -> bool:
    """Whether a handler swallows everything; one that ends in a bare `raise` only cleans up."""
    broad = handler.type is None or "Exception" in ast.unparse(handler.type).replace("(", " ").replace(",", " ").split()
    broad = broad or "BaseException" in ast.unparse(handler.type or ast.Constant(""))
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def test_everything_is_caught_only_where_plugins_are_called_and_at_the_door() -> None:
    found = [
        f"{name_of(path)}:{handler.lineno}"
        for path in SOURCES
        if not name_of(path).startswith(MAY_CATCH_ALL)
        for handler in ast.walk(tree_of(path))
        if isinstance(handler, ast.ExceptHandler) and catches_all(handler)
    ]
    assert found == []


@pytest.mark.parametrize("package", ["core", "engine"])
def test_nothing_is_of_any_type_where_rules_are(package: str) -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if name_of(path).startswith(f"{package}/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert found == []


def test_every_module_says_in_its_first_line_what_lives_there() -> None:
    silent = [name_of(path) for path in SOURCES if not ast.get_docstring(tree_of(path))]
    assert silent == []


def test_packages_import_only_downwards_and_the_core_is_pure() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(lint), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def glossary_rows(part: int) -> list[list[str]]:
    """The rows of a table: 0 the words of the screens, 1 those of the inside."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("## Inside")[part]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def glossary() -> dict[str, tuple[str, str]]:
    """Word -> (meaning, where)."""
    return {word: (meaning, where) for word, meaning, where in glossary_rows(1)}


def test_the_words_of_the_screens_are_few_and_each_is_explained() -> None:
    rows = glossary_rows(0)
    assert 20 <= len(rows) <= 28
    assert all(len(row) == 2 and all(row) for row in rows)


def test_the_glossary_has_every_word_with_its_meaning() -> None:
    found = glossary()
    assert set(WORDS) <= set(found)
    assert [word for word, (meaning, where) in found.items() if not meaning or not where] == []


def test_a_word_of_the_glossary_stands_where_the_glossary_says() -> None:
    places = {word: where.strip("`") for word, (_, where) in glossary().items() if where.startswith("`")}
    absent = [word for word, where in places.items() if not stands_in(word, PACKAGE / where)]
    assert absent == []


def stands_in(word: str, path: Path) -> bool:
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8").lower().replace("_", " ")
    return word.split()[-1] in text or word in path.stem.replace("_", " ")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.stem)
def test_an_adr_says_what_was_seen_chosen_paid_and_would_change_our_mind(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ADR_SECTIONS
    assert re.match(rf"# {int(path.name[:4])}\. \S", text)
    assert len(text.splitlines()) <= ONE_SCREEN


def test_no_group_is_repeated_possessively() -> None:
    """Python up to 3.11.4 matches such a group wrongly where it ends within a repetition: `(?>(?:...)*)` is right."""
    places = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert places == []


def test_no_pattern_is_compared_by_identity() -> None:
    """A pattern of module level stands in for the one that a match names: `match.re == PATTERN`."""
    places = [path.name for path in SOURCES if re.search(r"\.re is(?: not)? ", path.read_text(encoding="utf-8"))]
    assert places == []


def test_make_alone_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    listed = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    assert phony is not None
    assert [name for name in phony[1].split() if f"make {name} " not in listed] == []


def test_continuous_integration_runs_what_a_newcomer_runs_and_a_part_of_the_rest() -> None:
    """What fails is tried once more, alone; what then fails, or leaves nothing to try, has failed."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    again = ".venv/bin/python -m pytest --last-failed --last-failed-no-failures none "
    assert text.count(again) == 1
    spread = ".venv/bin/python -m pytest -n 2 --dist loadfile"
    assert re.findall(r"^(.+) \|\| again$", text, re.MULTILINE) == [
        "make test",
        ".venv/bin/python -m pytest tests/web",
        f'{spread} -m "agents and landing"',
        f'{spread} --part="$seed" --flaky="$flaky"',
    ]


@pytest.mark.parametrize("name", ["README.md", "docs/architecture.md", "docs/glossary.md"])
def test_links_between_documents_lead_somewhere(name: str) -> None:
    path = ROOT / name
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    broken = [t for t in targets if "://" not in t and not (path.parent / t).exists()]
    assert broken == []


def test_every_pattern_and_every_schema_of_ours_can_be_made() -> None:
    """They are made at their first use, which is what the prepared process of the tests does for all of them."""
    program = "from agent_fox.testing.prefork import prepare; prepare()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def rooms() -> Counter[str]:
    """How many modules each folder of the package holds; a package's own `__init__.py` is none."""
    return Counter(name_of(path.parent) for path in SOURCES if path.name != "__init__.py")


def test_no_rule_of_gitignore_hides_a_module_of_ours() -> None:
    ours = [f"{place}/*.py" for place in ("agent_fox", "tests", "bench", "tools")]
    asked = ("git", "ls-files", "--others", "--ignored", "--exclude-standard", "--", *ours)
    assert subprocess.run(asked, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout == b""
    for package in {path.parent for path in (ROOT / "agent_fox").rglob("*.py")}:
        assert (package / "__init__.py").exists(), package


def test_a_room_holds_no_more_modules_than_one_head_can() -> None:
    assert {room: count for room, count in rooms().items() if count > LARGEST_ROOM} == {}


def test_no_package_has_more_lines_than_its_budget() -> None:
    lines = Counter({package: 0 for package in HOUSE["lines"]})
    for path in SOURCES:
        lines[name_of(path).partition("/")[0]] += len(path.read_text(encoding="utf-8").splitlines())
    assert {package: count for package, count in lines.items() if count > HOUSE["lines"].get(package, 0)} == {}


SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|BEGIN|CREATE|DROP)\b")
"""`SELECT 1 FROM runs` is a statement; `kind = 'review' AND status = ?`, which a function of store takes, is none."""


def test_what_is_asked_of_the_state_is_written_in_store_alone() -> None:
    """The list of others only goes down."""
    statements = Counter(
        name_of(path)
        for path in SOURCES
        if not name_of(path).startswith("store/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
    )
    assert {name: count for name, count in statements.items() if count > HOUSE["sql"].get(name, 0)} == {}


STARTING = re.compile(
    r"subprocess\.(?:run|Popen|call|check_\w+|getoutput|getstatusoutput)|os\.(?:exec|spawn|posix_spawn|fork|popen|system)\w*"
    r"|asyncio\.create_subprocess_\w+|multiprocessing\.\w+|pty\.\w+"
)
"""`subprocess.run` starts a program, as `os.execvpe` does; `subprocess.TimeoutExpired` and `os.environ` do not."""


def test_programs_are_started_at_one_place() -> None:
    """`system/programs.py`; what else starts one stands in house.toml with its reason."""
    starts = Counter(
        name_of(path)
        for path in SOURCES
        if not name_of(path).startswith("testing/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and STARTING.fullmatch(ast.unparse(node.func))
    )
    assert starts == HOUSE["starts"]


def test_files_that_others_may_touch_are_opened_at_one_place() -> None:
    """`open_regular` of `system/files.py`; what else follows no link stands in house.toml with its reason."""
    places = Counter(name_of(path) for path in SOURCES if "os.O_NOFOLLOW" in path.read_text(encoding="utf-8"))
    assert places == HOUSE["opens"]


def test_files_are_replaced_at_one_place() -> None:
    """`replacing` of `system/files.py`; what else moves a file into its place stands in house.toml with its reason."""
    places = Counter(
        name_of(path)
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and is_move(node)
    )
    assert places == HOUSE["replaces"]


def is_move(call: ast.Call) -> bool:
    """`path.replace(other)` and `os.replace(path, other)` are one; `text.replace("a", "b")` is none."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="replace" | "rename")):
            return True
        case ast.Call(func=ast.Attribute(attr="replace" | "rename"), args=[_], keywords=[]):
            return True
    return False


def test_no_room_with_an_aim_of_its_own_has_more_lines_than_its_budget() -> None:
    lines = Counter({room: 0 for room in HOUSE["room_lines"]})
    for path in SOURCES:
        for room in (room for room in lines if name_of(path).startswith(f"{room}/")):
            lines[room] += len(path.read_text(encoding="utf-8").splitlines())
    assert 0 not in lines.values()
    assert {room: count for room, count in lines.items() if count > HOUSE["room_lines"][room]} == {}


def test_no_more_private_functions_have_one_caller() -> None:
    once = 0
    for path in SOURCES:
        tree = tree_of(path)
        used = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        private = (each.name for each in functions(tree) if each.name.startswith("_") and not each.name.endswith("__"))
        once += sum(used[name] == 1 for name in private)
    assert once <= HOUSE["private_functions_used_once"]


def renamed_words() -> dict[bool, frozenset[str]]:
    """The words of docs/names.md: those that no name may be, and (True) those that no local may be."""
    text = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`( \(local\))? \|", text, re.MULTILINE)
    return {is_local: frozenset(word for word, local in rows if bool(local) is is_local) for is_local in (False, True)}


def names_given(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Names of functions, classes, parameters and locals; True: of a local. Fields and module constants are none."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, is_inside = stack.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, False
                is_inside = True
            case ast.ClassDef(name=name):
                yield name, False
                is_inside = False
            case ast.arg(arg=name):
                yield name, False
            case ast.Name(id=name, ctx=ast.Store()) if is_inside:
                yield name, True
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, True
        stack += [(child, is_inside) for child in ast.iter_child_nodes(node)]


def test_no_more_names_are_words_that_were_renamed() -> None:
    words = renamed_words()
    every = re.compile(rf"\b_?(?:{'|'.join(words[False] | words[True])})\b", re.IGNORECASE)
    counts: Counter[str] = Counter()
    for path in SOURCES:
        if every.search(path.read_text(encoding="utf-8")):
            counts[name_of(path).partition("/")[0]] += sum(
                name.strip("_").lower() in words[False] or (is_local and name in words[True])
                for name, is_local in names_given(tree_of(path))
            )
    assert {package: count for package, count in counts.items() if count > HOUSE["old_names"].get(package, 0)} == {}


def test_an_old_name_of_a_module_that_others_import_warns_and_gives_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="agent_fox.engine.docket is agent_fox.engine.record.docket now"):
        from agent_fox.engine.docket import Docket as old  # noqa: PLC0415 - the warning is what is looked at

    assert old is docket.Docket
