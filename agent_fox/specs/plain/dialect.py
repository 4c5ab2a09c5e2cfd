"""The plain dialect: one file that is a whole spec, in Markdown or TOML, told from its name and how it begins; a
Markdown file may hold several. And one to begin with."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from agent_fox.core.late import Late
from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.files import MAX_FILE_BYTES, TextFile, head_of, read_text_file
from agent_fox.specs.lines import scan

PLAIN = "plain"
MARK = "<!-- agent-fox: normal form 1 -->"

_HEADING = regex(r"Spec *[:\uff1a] *(?:`(?P<name>[^`/]{1,200})` *(?:[:\uff1a] *|$))?(?P<title>.*)$", re.IGNORECASE)
_TABLE = regex(r"^[ \t]*\[", re.MULTILINE)
_OUR_KEYS = regex(r"^[ \t]*(title|requirements|groups|test_commands|depends_on)[ \t]*=", re.MULTILINE)
_OUR_TABLES = regex(r"^[ \t]*\[{1,2}(requirements|groups|test_commands|depends_on)\]", re.MULTILINE)
_OTHER_TABLES = regex(
    r"^[ \t]*\[(?:project|package|build-system|workspace|dependencies|tool\.[^\]\n]{1,80})\]", re.MULTILINE
)
# Documents of the other dialects: whatever heading they have, their folder is the spec.
_OTHERS_DOCUMENTS = frozenset(
    {
    "spec.md", "requirements.md", "tasks.md", "design.md", "plan.md", "proposal.md", "prd.md", "test_spec.md",
    "bugfix.md", "research.md", "readme.md",
    }
)  # fmt: skip

_Read = Callable[[TextFile, dict[str, str]], tuple[tuple[Spec, ...], tuple[Problem, ...]]]
_TOML: Late[_Read] = Late("agent_fox.specs.plain.toml_form:read_plain_toml")
_NORMAL_FORM: Late[_Read] = Late("agent_fox.specs.plain.normal_form:read_normal_form")
_MARKDOWN: Late[_Read] = Late("agent_fox.specs.plain.markdown:read_plain_markdown")
_LARGEST_FORM = 8 * MAX_FILE_BYTES  # a normal form holds the specs of a whole repository


class PlainDialect:
    """Files `NAME.md` whose first heading is `# Spec: Title`, and files `NAME.toml` with requirements or groups."""

    @property
    def name(self) -> str:
        return PLAIN

    def recognises(self, folder: Path) -> bool:
        if folder.suffix not in (".md", ".toml"):
            return False
        head = head_of(folder)
        if is_reserved(folder.name):
            return is_normal_form(head)
        return is_our_toml(head) if folder.suffix == ".toml" else is_our_markdown(head)

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        """The first spec of the file."""
        specs, problems = self.read_all(folder, root)
        return (specs[0] if specs else None), problems

    def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
        is_form = path.suffix == ".md" and is_normal_form(head_of(path))
        file = read_text_file(path, root, _LARGEST_FORM if is_form else MAX_FILE_BYTES)
        if not isinstance(file, TextFile):
            return (), (Problem(file.severity, file.where, file.what, path.stem),)
        read = _TOML if path.suffix == ".toml" else _NORMAL_FORM if is_form else _MARKDOWN
        return read.load()(file, {path.name: file.where})


def example(suffix: str) -> str:
    """The spec that `agent-fox init --spec` begins with, in Markdown (`.md`) or TOML (`.toml`)."""
    return Path(__file__).with_name(f"example{suffix}").read_text(encoding="utf-8")


def is_reserved(name: str) -> bool:
    """Whether a file of this name belongs to another dialect, or to readers: only a normal form may be called so."""
    return name.lower() in _OTHERS_DOCUMENTS


def is_normal_form(text: str) -> bool:
    return text.startswith(MARK)


def is_our_markdown(head: str) -> bool:
    if is_normal_form(head):
        return True
    if "spec" not in head.lower():
        return False
    first = next((line.heading for line in scan(head).lines if line.heading is not None), None)
    return first is not None and first.level == 1 and spec_heading(first.title) is not None


def is_our_toml(head: str) -> bool:
    """Two of our keys, one of them requirements or groups; or requirements alone. Not a tool's or a package's file."""
    if _OTHER_TABLES.search(head):
        return False
    first_table = _TABLE.search(head)
    keys = set(_OUR_KEYS.findall(head[: first_table.start()] if first_table else head))
    keys |= set(_OUR_TABLES.findall(head))
    return "requirements" in keys or ("groups" in keys and len(keys) > 1)


def spec_heading(title: str) -> re.Match[str] | None:
    """A heading such as `Spec: Title`, or ``Spec: `name`: Title``."""
    return _HEADING.match(title)
