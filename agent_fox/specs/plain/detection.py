"""Whether a file is a plain spec, told from its name and how it begins, and one to begin with. Reading is not here."""

from __future__ import annotations

import re
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.specs.lines import scan

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
