"""`python -m tools.quick`: the core's tests, and those of what changed since the last commit. Prints what it runs.

A changed module is tested by the file that mirrors it (`agent_fox/a/b.py`, `tests/a/test_b.py`) and by every test file
that imports it; a changed test file by itself. What else might be touched is for `make test`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/core",)


def main() -> int:
    """pytest's exit code."""
    changed = [path for path in changed_files(ROOT) if path.endswith(".py")]
    chosen = sorted(set(chosen_files(changed, ROOT)))
    print(
        f"{len(changed)} changed Python files; beside {', '.join(ALWAYS)}: {' '.join(chosen) or 'nothing'}", flush=True
    )
    words = ["-n", "2", "--dist", "worksteal", "-m", "not agents and not slow", *ALWAYS, *chosen]
    return subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, check=False).returncode


def changed_files(root: Path) -> list[str]:
    """Paths that differ from the last commit, new ones too, as far as they are still there."""
    asked = (["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"])
    told = "".join(
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout for words in asked
    )
    return [path for path in dict.fromkeys(told.splitlines()) if (root / path).exists()]


def chosen_files(changed: Iterable[str], root: Path) -> Iterator[str]:
    """The test files that changed, mirror what changed, or import it. Those of the core are run anyway."""
    modules = {path.removesuffix(".py").replace("/", ".") for path in changed if not is_test(path)}
    mirrors = {f"tests/{Path(path).parent.relative_to('agent_fox')}/test_{Path(path).name}" for path in changed
               if path.startswith("agent_fox/")}  # fmt: skip
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(ALWAYS):
            continue
        if name in changed or name in mirrors or not modules.isdisjoint(imported(path)):
            yield name


def is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, and every name as if it were one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


if __name__ == "__main__":
    sys.exit(main())
