"""The plain dialect: one file that is a whole spec, in Markdown or TOML; a Markdown file may hold several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent_fox.core.late import Late
from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.files import MAX_FILE_BYTES, TextFile, head_of, read_text_file
from agent_fox.specs.plain.detection import is_normal_form, is_our_markdown, is_our_toml, is_reserved

PLAIN = "plain"

_Read = Callable[[TextFile, dict[str, str]], tuple[tuple[Spec, ...], tuple[Problem, ...]]]
_TOML: Late[_Read] = Late("agent_fox.specs.plain.toml_form:read_plain_toml")
_NORMAL_FORM: Late[_Read] = Late("agent_fox.specs.plain.normal_reader:read_normal_form")
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
