"""The report of a close-out: its form, its one path, and how a newer one takes its place. What it says is `core`'s."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.json_text import NotJson, read_json
from agent_fox.core.markdown import cell, code
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass, to_document, to_object
from agent_fox.system.files import read_regular, replace_file

if TYPE_CHECKING:
    from agent_fox.core.ledger.close_out import Finding, Verification
    from agent_fox.core.values import Json

VERSION = 1
LARGEST_REPORT = 64 * 1024**2
LONGEST_NAME = 180
LONGEST_CELL = 300
_PLAIN = regex(r"[A-Za-z0-9_:@+,=.-]")


class ReportTrouble(Exception):
    """A report that cannot be written where it belongs. The message says where, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verification with what it is about and when it was made (ISO 8601, UTC).

    record: its id in the ledger. limitation: in what the tree is not exactly what was judged.
    """

    verification: Verification
    timestamp: str
    tree: str = ""
    commit: str = ""
    record: str = ""
    limitation: str = ""


def file_name(task_id: str) -> str:
    """The name of a task's report: the id itself where that is a plain name. No two ids share a name."""
    coded = "".join(_coded(letter, is_first=not at) for at, letter in enumerate(task_id))
    if len(coded) > LONGEST_NAME:
        digest = digest_of(task_id)
        coded = f"{coded[:80]}~{digest}"
    return f"{coded}.json"


def _coded(letter: str, *, is_first: bool) -> str:
    if _PLAIN.fullmatch(letter) and not (is_first and letter in ".-"):
        return letter
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))


def document_of(judged: Judged) -> dict[str, Json]:
    """The report as JSON. What a person signed for stays a finding, with its waiver beside it."""
    verification, used = judged.verification, judged.verification.waivers
    return {
        "version": VERSION,
        "task_id": verification.task_id,
        "passed": verification.passed,
        "findings": [_finding(verification, finding) for finding in verification.findings],
        "warnings": len(verification.warnings),
        "override_reason": "; ".join(dict.fromkeys(waiver.reason for waiver in used)) or None,
        "overridden_by": "; ".join(dict.fromkeys(waiver.signer for waiver in used)) or None,
        "waivers": to_document(used),
        **to_object(judged, only=("timestamp", "tree", "commit", "limitation")),
        "record": judged.record or None,
    }  # fmt: skip


def _finding(found: Verification, finding: Finding) -> Json:
    waiver = found.waiver_of(finding)
    return {
        **to_object(finding, only=("check", "severity", "detail", "detail_hash")),
        "waived_by": waiver.id if waiver else None,
    }


@contextmanager
def only_judge(folder: Path) -> Iterator[None]:
    """Hold the folder of reports: of two judgements at once the one that is made later is written later.

    Raises ReportTrouble where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ReportTrouble(f"{folder}: cannot be made ({error.strerror}); name another --output-dir") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_report(folder: Path, document: Mapping[str, Json]) -> Path:
    """Put the report in the place of the one before, at once. Raises ReportTrouble."""
    task_id = str(document["task_id"])
    path = folder / file_name(task_id)
    _check_owner(path, task_id)
    try:
        replace_file(path, json.dumps(document, indent=2) + "\n")
    except OSError as error:
        raise ReportTrouble(f"{path}: cannot be written ({error.strerror}); name another --output-dir") from error
    return path


def refuse_links(root: Path, folder: Path) -> None:
    """A link among the folders below the repository's root was planted there: reports go where they are said to go,
    and nowhere else. Raises ReportTrouble."""
    place = root / os.path.normpath(folder)  # not resolved: the links themselves are looked for
    below = (parent for parent in (place, *place.parents) if parent != root and parent.is_relative_to(root))
    link = next((place for place in below if place.is_symlink()), None)
    if link is not None:
        raise ReportTrouble(f"{link}: it is a link; remove it, or name another --output-dir")


def _check_owner(path: Path, task_id: str) -> None:
    """Some file systems take two spellings for one name: a report never takes another task's place."""
    before = read_report(path)
    owner = before.get("task_id", task_id) if before else task_id
    if owner != task_id:
        raise ReportTrouble(f"{path}: it is the report of task {owner!r}; name another --output-dir")


def read_report(path: Path) -> dict[str, Json] | None:
    """The report as it lies there; empty where it is no JSON object, None where there is none."""
    if not path.is_symlink() and not path.exists():
        return None
    try:
        document = read_json(read_regular(path, LARGEST_REPORT) or b"")
    except (OSError, NotJson):
        return {}
    return document if isinstance(document, dict) else {}


def reports_of(folder: Path) -> tuple[Path, ...]:
    """The files of a folder that are reports under their task's own name; any other JSON is not ours."""
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return tuple(path for path in paths if _is_report(path))


def _is_report(path: Path) -> bool:
    report = read_report(path) or {}
    return "findings" in report and file_name(str(report.get("task_id"))) == path.name


def summary(judged: Judged) -> str:
    """The report as Markdown for a pull request: verdict, every finding, warnings counted, who signed for what."""
    verification = judged.verification
    verdict = "passed" if verification.passed else "blocked"
    head = f"### Close-out of {code(verification.task_id)}: {verdict}, {len(verification.warnings)} warning(s)"
    rows = [
        f"| {finding.severity}{_signed(verification, finding)} | {finding.check} | {_cell(finding.detail)} |"
        for finding in verification.findings
    ]
    table = ["", "| severity | check | detail |", "|---|---|---|", *rows] if rows else ["", "No findings."]
    signed = [
        f"- {waiver.check} waived by {_cell(waiver.signer)}: {_cell(waiver.reason)}" for waiver in verification.waivers
    ]
    about = (
        f"tree `{judged.tree or 'unknown'}`, commit `{judged.commit or 'unknown'}`, record `{judged.record or 'none'}`"
    )
    limits = [f"Limitation: {judged.limitation}."] if judged.limitation else []
    return "\n".join([head, *table, *([""] if signed else []), *signed, "", about, *limits, ""])


def _signed(found: Verification, finding: Finding) -> str:
    return " (waived)" if found.waiver_of(finding) else ""


def _cell(text: str) -> str:
    """One line that cannot become a cell, a heading, a link or HTML of its own."""
    return cell(text, LONGEST_CELL).replace("[", "\\[").replace("`", "'").replace("@", "@\u200b")
