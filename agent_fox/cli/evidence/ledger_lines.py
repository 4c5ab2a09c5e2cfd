"""Records, and what a check of them found, as lines and as JSON. Nothing is read or checked here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from agent_fox.core.values import to_document, to_object

if TYPE_CHECKING:
    from agent_fox.evidence.exports.verify_export import CheckedExport
    from agent_fox.evidence.faults import Fault, Findings
    from agent_fox.evidence.verify import Checked
    from agent_fox.store.ledger.ledger import Kept

SHORT = 12
MOST_LINES = 20


def entry_lines(records: Iterable[Kept]) -> Iterator[str]:
    """One line a record, oldest first."""
    lines = [_entry(kept) for kept in records]
    yield from lines or ["no records"]


def _entry(kept: Kept) -> str:
    about = kept.address or kept.spec_name or ""
    name = kept.link.record_id[:SHORT]
    return f"{kept.link.position:>6}  {kept.at[:19]}  {name}  {kept.kind:<13}  {kept.status:<10}  {about}".rstrip()


def record_lines(kept: Kept) -> Iterator[str]:
    """One record, whole."""
    link = kept.link
    yield f"record {link.position}  {link.record_id}"
    yield f"  behind {link.previous}"
    yield f"  head   {link.head}"
    yield from json.dumps(kept.document, indent=2).splitlines()


def record_document(kept: Kept) -> dict[str, object]:
    return {**to_object(kept.link), "spec_name": kept.spec_name, "record": kept.document}


def checked_lines(checked: Checked, export: CheckedExport | None = None) -> Iterator[str]:
    """What a check comes to, for people."""
    yield f"{checked.count} records, head {checked.walk.head}" + (
        f", the last of {checked.walk.at}" if checked.count else ""
    )
    if export and export.signers:
        yield f"signed by {', '.join(export.signers)}"
    if export and checked.whose.id:
        begins = f", which begins with {checked.whose.root[:12]}" if checked.whose.root else ""
        yield f"of the repository {checked.whose.id[:12]}{begins}"
    yield from _finding_lines(checked.findings)
    counts = Counter(gate.state for gate in checked.fold.gates().values())
    if counts:
        yield "gates by these records: " + ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))


def _finding_lines(findings: Findings) -> Iterator[str]:
    count = len(findings.faults) + findings.left_out
    if count:
        yield f"NOT SOUND: {count} fault{'s' if count > 1 else ''}"
    elif findings.unchecked:
        yield "no fault was found, but not everything could be checked"
    else:
        yield "sound: every record is as it was written, and none is missing"
    shown = list(_fault_lines(findings.faults))
    yield from shown[:MOST_LINES]
    if len(shown) > MOST_LINES or findings.left_out:
        yield "  and more, see --json"
    for doubt in findings.unchecked:
        yield f"  not checked: {doubt.what}: {doubt.why}"
    for remark in findings.remarks:
        yield f"  note: {remark}"


def _fault_lines(faults: Iterable[Fault]) -> Iterator[str]:
    """One line for the same fault of records that follow each other."""
    for (what, meaning), same in groupby(faults, key=lambda fault: (fault.what, fault.meaning)):
        places = [fault.position for fault in same]
        several = f"records {places[0]} to {places[-1]}: " if len(places) > 1 else f"record {places[0]}: "
        yield f"  {several if places[0] else ''}{what}: {meaning}"


def checked_document(checked: Checked, export: CheckedExport | None = None) -> dict[str, object]:
    """The same as JSON, with where every gate and every task stands by the records alone."""
    findings, fold = checked.findings, checked.fold
    document: dict[str, object] = {
        "is_sound": findings.is_sound, "records": checked.count, "head": checked.walk.head, "at": checked.walk.at,
        "faults": to_document(findings.faults), "faults_left_out": findings.left_out,
        "unchecked": to_document(findings.unchecked), "remarks": findings.remarks,
        "gates": to_document(list(fold.gates().values())),
        "close_outs": [to_object(fold.close_outs[task]) for task in sorted(fold.close_outs)],
    }  # fmt: skip
    if export is None:
        return document
    checkpoint = export.checkpoint.model_dump(mode="json") if export.checkpoint else None
    facts = {"signers": list(export.signers), "test_result_forms": list(export.forms), "checkpoint": checkpoint}
    return {**document, **facts}
