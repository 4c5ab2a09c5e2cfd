"""`agent-fox issues export`: every issue as a file of its own, with an index. Nothing is written over unasked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from agent_fox.cli.errors import UserError
from agent_fox.cli.issues.lines import detail_lines, effect_document, issue_document
from agent_fox.cli.place import near
from agent_fox.core.markdown import cell, fenced, one_line, printable
from agent_fox.core.regex import regex
from agent_fox.store.issue_view import EffectView, IssueView
from agent_fox.system.files import replace_file

Sheet = tuple[IssueView, tuple[EffectView, ...], str]

OURS = "exported by agent-fox issues export"
MARKS = (f"<!-- {OURS} -->", f'{{\n  "made_by": "{OURS}"')
LONGEST_SLUG = 50
LONGEST_TITLE = 200
SHORT = 8

_NOT_WORD = regex(r"[^a-z0-9]+")


def export(root: Path, sheets: Iterable[Sheet], form: str, folder: Path, *, force: bool) -> list[Path]:
    """Write the files; all of them can be written, or none is. Raises UserError."""
    kept = list(sheets)
    suffix, index = ("json", index_json) if form == "json" else ("md", index_markdown)
    page = page_json if form == "json" else page_markdown
    texts = {folder / f"{name_of(sheet[0])}.{suffix}": page(root, sheet) for sheet in kept}
    texts[folder / f"index.{suffix}"] = index(root, kept, suffix)
    if folder.is_symlink():
        raise UserError(f"{folder}: a link; name the folder that it leads to, if it is meant: --output DIR")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_foreign(texts, force=force)
        for path, text in texts.items():
            write_whole(path, text)
    except OSError as error:
        where = error.filename or folder
        raise UserError(
            f"{where}: {error.strerror or error}; name a folder that can be written: --output DIR"
        ) from error
    return list(texts)


def refuse_foreign(paths: Iterable[Path], *, force: bool) -> None:
    """Raises UserError where a file, or something that is no file, is in the way."""
    there = [path for path in paths if path.is_symlink() or path.exists()]
    strange = [path for path in there if path.is_symlink() or not path.is_file()]
    foreign = [path for path in there if path not in strange and not (force or is_ours(path))]
    if strange:
        raise UserError(f"{strange[0]}: no file; move it away, or name another folder: --output DIR")
    if foreign:
        raise UserError(
            f"{foreign[0]}: not of an earlier export; move it away, name another folder (--output DIR), or --force"
        )


def is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(max(map(len, MARKS))).startswith(MARKS)


def name_of(issue: IssueView) -> str:
    """The same for an issue before and after it got its number, so that no export leaves two files of one."""
    slug = _NOT_WORD.sub("-", issue.title.lower())[:LONGEST_SLUG].strip("-") or "issue"
    return f"{slug}-{_NOT_WORD.sub('', issue.fingerprint)[:SHORT]}"


def page_markdown(root: Path, sheet: Sheet) -> str:
    issue, effects, text = sheet
    where = near(root, issue.where) or "not filed yet"
    head = f"# {one_line(issue.title, LONGEST_TITLE)}\n\n{issue.number or '-'}, {issue.standing}: {where}"
    details = fenced("\n".join(detail_lines(issue, effects)))
    return f"{MARKS[0]}\n\n{head}\n\n{printable(text).strip()}\n\n## State and effects\n\n{details}\n"


def index_markdown(root: Path, sheets: list[Sheet], suffix: str) -> str:
    rows = [_row(root, issue, f"{name_of(issue)}.{suffix}") for issue, _, _ in sheets]
    header = ["| number | state | issue | specs | open | place |", "|---|---|---|---|---|---|"]
    table = "\n".join([*header, *rows]) if rows else "There are no issues."
    return f"{MARKS[0]}\n\n# Issues\n\n{table}\n"


def _row(root: Path, issue: IssueView, file: str) -> str:
    heading = cell(issue.title).replace("[", "\\[").replace("]", "\\]")
    cells = (
        issue.number or "-", issue.standing.value, f"[{heading}]({file})", cell(", ".join(issue.specs)),
        cell(", ".join(issue.open_ids), 400), cell(near(root, issue.where)),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def page_json(root: Path, sheet: Sheet) -> str:
    issue, effects, text = sheet
    more = {"text": text, "effects": [{**effect_document(effect), "body": effect.body} for effect in effects]}
    return _json({"made_by": OURS, **issue_document(root, issue), **more})


def index_json(root: Path, sheets: list[Sheet], suffix: str) -> str:
    rows = [{"file": f"{name_of(issue)}.{suffix}", **issue_document(root, issue)} for issue, _, _ in sheets]
    return _json({"made_by": OURS, "issues": rows})


def _json(document: dict[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def write_whole(path: Path, text: str, errors: str = "backslashreplace") -> None:
    """The whole file or nothing of it; a link that comes up meanwhile is replaced, not followed. Raises OSError."""
    replace_file(path, text.encode("utf-8", errors), 0o644, is_durable=False)
