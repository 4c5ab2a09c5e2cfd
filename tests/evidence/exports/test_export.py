"""An export is checked from the file and a key alone: whatever was done to it, on whichever record, is found."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.ledger.evidence import GENESIS, Evidence, Kind, Outcome, canonical, content_of, linked
from agent_fox.evidence.exports.checkpoints import Checkpoint
from agent_fox.evidence.exports.export import LedgerFaulty, lines, signing, unsigned
from agent_fox.evidence.exports.statements import (
    CHECKPOINT,
    OLD,
    RECORD,
    STATEMENT,
    STRICT,
    TEST_RESULT,
    VERDICT,
    statement_of,
)
from agent_fox.evidence.exports.verify_export import OLD_FORM, Line, follow, read_line, verify_export
from agent_fox.evidence.exports.verify_export import closing as ended
from agent_fox.evidence.signing import keys
from agent_fox.evidence.signing.dsse import Envelope
from agent_fox.evidence.signing.keys import LEDGER, WAIVERS, Signer
from agent_fox.evidence.walk import Entry, Walk
from agent_fox.store.gates import gates_of
from agent_fox.store.state import read_state
from tests.evidence.ledgers import NOW, grown, opened
from tests.evidence.test_verify import reforged

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
ME = Signer("me", (LEDGER,), keys.public_of(PRIVATE))
SOMEBODY = Signer("somebody", (LEDGER,), keys.public_of(OTHER))
SMALL, LARGE = (150, 30), (1000, 180)
"""Records at least, and the moments that make them."""


def exported(path: Path, private: Ed25519PrivateKey | None = PRIVATE) -> list[str]:
    with closing(read_state(path)) as db:
        return list(lines(db, signing(private) if private else unsigned, repository="c0ffee", at=NOW))


@dataclass(frozen=True)
class Exported:
    """An export of at least so many `records`. `walks[n]`: how far the chain was followed behind the line n."""

    path: Path
    texts: list[str]
    read: dict[str, Line]
    walks: list[Walk]
    records: int

    def take(self, walk: Walk, text: str) -> tuple[Walk, bool]:
        """One line further, as `verify_export` goes; whether something was found. A line is read once."""
        if text not in self.read:
            self.read[text] = read_line(text, (ME,))
        taken = follow(walk, self.read[text])
        return taken.walk, bool(taken.faults)

    def is_found(self, start: int, texts: list[str]) -> bool:
        """Whether these lines, in the place of all behind the line `start`, are found out.

        What stands before is as it was, so that the check is taken up there; it ends at the first fault.
        """
        walk = self.walks[start]
        for text in texts[:-1]:
            walk, has_fault = self.take(walk, text)
            if has_fault:
                return True
        self.take(walk, texts[-1])
        return bool(list(ended(walk, self.read[texts[-1]])))


@pytest.fixture(scope="module", params=[SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["small", "large"])
def whole(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Exported:
    records, moments = request.param
    path = grown(tmp_path_factory.mktemp("export"), moments)
    texts = exported(path)
    found = Exported(path, texts, {}, [Walk()], records)
    for text in texts[:-1]:
        walk, has_fault = found.take(found.walks[-1], text)
        assert not has_fault
        found.walks.append(walk)
    found.take(walk, texts[-1])
    assert len(texts) > records
    return found


def faults(texts: list[str], signers: tuple[Signer, ...] = (ME,)) -> list[str]:
    return [fault.what for fault in verify_export(texts, signers).checked.findings.faults]


def test_what_was_exported_is_sound(whole: Exported) -> None:
    found = verify_export(whole.texts, (ME,))
    assert found.checked.findings.is_sound
    assert found.signers == (ME.key.id,)
    assert found.checked.count == len(whole.texts) - 1


def edited(text: str) -> str:
    """The line with one digit of its content changed, in the same signed envelope."""
    envelope = json.loads(text)
    payload = base64.b64decode(envelope["payload"])
    old, new = b'"format":2', b'"format":1'
    if old not in payload:  # a test-result has its record's bytes in Base64
        held = base64.b64decode(json.loads(payload)["predicate"]["configuration"][-1]["content"])
        old, new = base64.b64encode(held), base64.b64encode(held.replace(old, new))
    changed = payload.replace(old, new)
    assert changed != payload
    return (
        json.dumps({**envelope, "payload": base64.b64encode(changed).decode()}, sort_keys=True, separators=(",", ":"))
        + "\n"
    )


def signed_anew(text: str) -> str:
    """The line with a signature of somebody else's, of whom nobody trusts anything."""
    return signing(OTHER)(Envelope.from_json(text).payload).to_json() + "\n"


def deleted(texts: list[str], at: int) -> list[str]:
    return texts[at + 1 :]


def swapped(texts: list[str], at: int) -> list[str]:
    return [texts[at + 1], texts[at], *texts[at + 2 :]]


def changed(texts: list[str], at: int) -> list[str]:
    return [edited(texts[at]), *texts[at + 1 :]]


def repeated(texts: list[str], at: int) -> list[str]:
    return [texts[at], texts[at], *texts[at + 1 :]]


def at_the_end(texts: list[str], at: int) -> list[str]:
    """The record once more, behind all others."""
    return [*texts[at:-1], texts[at], texts[-1]]


def cut(texts: list[str], at: int) -> list[str]:
    """Everything from the record on is missing, but for the checkpoint."""
    return [texts[-1]]


def of_another(texts: list[str], at: int) -> list[str]:
    return [signed_anew(texts[at]), *texts[at + 1 :]]


@pytest.mark.parametrize("damage", [deleted, swapped, changed, repeated, cut, of_another])
def test_damage_to_any_record_is_found(whole: Exported, damage: Callable[[list[str], int], list[str]]) -> None:
    missed = [at for at in range(whole.records) if not whole.is_found(at, damage(whole.texts, at))]
    assert missed == []


@pytest.mark.parametrize("damage", [deleted, swapped, changed, repeated, at_the_end, cut, of_another])
@pytest.mark.parametrize("at", [0, 1, 0.5, -2], ids=["first", "second", "middle", "last"])
def test_damage_is_found_by_the_check_of_the_whole_file(
    whole: Exported, damage: Callable[[list[str], int], list[str]], at: float
) -> None:
    at = int(at * len(whole.texts)) if at == 0.5 else int(at) % len(whole.texts)
    assert faults([*whole.texts[:at], *damage(whole.texts, at)])


def test_a_record_that_is_replayed_at_the_end_is_found_whichever_it_is(whole: Exported) -> None:
    """What stands between is as it was: the check is taken up at the end."""
    last = len(whole.texts) - 1
    missed = [at for at in range(whole.records) if not whole.is_found(last, [whole.texts[at], whole.texts[-1]])]
    assert missed == []


def test_an_end_that_is_missing_is_found(whole: Exported) -> None:
    assert faults(whole.texts[:-1]) == ["the last line is no checkpoint"]
    assert faults([]) == ["the last line is no checkpoint"]


def test_the_checkpoint_of_another_export_is_found(whole: Exported, tmp_path: Path) -> None:
    other = exported(grown(tmp_path, 3))
    (fault,) = faults([*whole.texts[:-1], other[-1]])[:1]
    assert fault.startswith("the checkpoint is about ")


def test_an_earlier_export_is_sound_and_lacks_a_head_that_was_noted_later(whole: Exported, tmp_path: Path) -> None:
    early = exported(grown(tmp_path, 3))
    head = whole.walks[-1].head
    assert verify_export(early, (ME,)).checked.findings.is_sound
    assert verify_export(whole.texts, (ME,), noted=[head]).checked.findings.is_sound
    found = verify_export(early, (ME,), noted=[head]).checked.findings.faults
    assert [fault.what for fault in found] == [f"the head {head[:16]} that was noted is not in the chain"]


def test_without_a_key_it_is_not_known_who_made_it(whole: Exported) -> None:
    findings = verify_export(whole.texts, ()).checked.findings
    assert (findings.faults, findings.is_sound) == ([], False)
    assert findings.unchecked[0].what == "who made this export"


def test_with_another_key_nothing_of_it_is_believed(whole: Exported) -> None:
    assert len(verify_export(whole.texts[:3], (SOMEBODY,)).checked.findings.faults) >= 3
    for_waivers_only = Signer("me", (WAIVERS,), ME.key)
    assert verify_export(whole.texts[:3], (for_waivers_only,)).checked.findings.faults


def test_lines_of_two_trusted_signers_are_no_export(whole: Exported) -> None:
    mixed = [*whole.texts[:5], signed_anew(whole.texts[5]), *whole.texts[6:]]
    assert any("signed by 2 keys" in what for what in faults(mixed, (ME, SOMEBODY)))


def test_an_export_that_nobody_signed_says_so(whole: Exported) -> None:
    texts = exported(whole.path, None)
    findings = verify_export(texts, ()).checked.findings
    assert findings.faults == []
    assert "it is not signed: anybody can have written it" in [doubt.why for doubt in findings.unchecked]
    assert faults(texts)[0] == "it is not signed"


def test_a_signature_beside_the_trusted_one_is_found(whole: Exported) -> None:
    envelope, other = json.loads(whole.texts[3]), json.loads(signed_anew(whole.texts[3]))
    envelope["signatures"] += other["signatures"]
    both = json.dumps(envelope, sort_keys=True, separators=(",", ":")) + "\n"
    assert faults([*whole.texts[:3], both, *whole.texts[4:]])


@settings(max_examples=400)
@given(data=st.data())
def test_any_change_of_one_character_of_a_line_is_found(whole: Exported, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(whole.texts) - 1))
    text = whole.texts[number]
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters().filter(lambda one: one != text[place]))
    line = read_line(text[:place] + letter + text[place + 1 :], (ME,))
    assert line.held is None, line


def test_gates_by_the_export_alone_are_those_of_the_state_file(whole: Exported) -> None:
    with opened(whole.path) as db:
        rows = {(row.spec_name, row.requirement_id, row.version, row.state) for row in gates_of(db)}
    found = verify_export(whole.texts, (ME,))
    gates = found.checked.fold.gates().values()
    assert {(gate.spec, gate.requirement, gate.version, gate.state) for gate in gates} == rows
    assert found.checkpoint is not None
    assert {(gate.requirement, gate.state, gate.in_plan) for gate in found.checkpoint.gates} == {
        (part, state, True) for _, part, _, state in rows
    }


def test_a_checkpoint_whose_gates_are_not_those_of_the_records_is_found(whole: Exported) -> None:
    found = whole.read[whole.texts[-1]].held
    assert isinstance(found, Checkpoint)
    lying = found.model_copy(update={"gates": found.gates[:1]})
    text = signing(PRIVATE)(lying.payload()).to_json() + "\n"
    assert faults([*whole.texts[:-1], text]) == ["the gates stand otherwise by the records than by the checkpoint"]


def test_the_task_of_a_close_out_stands_where_its_last_judgement_left_it(whole: Exported) -> None:
    close_outs = verify_export(whole.texts, (ME,)).checked.fold.close_outs
    assert {one.status for one in close_outs.values()} == {"passed"}


def payloads(texts: list[str]) -> Iterator[dict[str, object]]:
    for text in texts:
        yield json.loads(Envelope.from_json(text).payload)


def test_records_are_statements_of_in_toto(whole: Exported) -> None:
    found = {str(one["predicateType"]): one for one in payloads(whole.texts)}
    assert found.keys() == {TEST_RESULT, VERDICT, RECORD, CHECKPOINT}
    assert {one["_type"] for one in found.values()} == {STATEMENT}
    result = found[TEST_RESULT]["predicate"]
    assert isinstance(result, dict)
    assert result["result"] == "PASSED"
    assert [one["name"] for one in result["configuration"]] == ["command", "environment", RECORD]
    verdict = found[VERDICT]["predicate"]
    assert isinstance(verdict, dict)
    assert verdict["verdict"] in ("PASS", "FAIL")


def test_a_statement_is_about_the_tree_and_the_commit(whole: Exported) -> None:
    verdict = next(one for one in payloads(whole.texts) if one["predicateType"] == VERDICT)
    kinds = [list(one["digest"]) for one in verdict["subject"]]  # type: ignore[attr-defined]
    assert kinds == [["gitTree"], ["gitCommit"]]
    other = next(one for one in payloads(whole.texts) if one["predicateType"] == RECORD)
    assert [list(one["digest"]) for one in other["subject"]] == [["sha256"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", ["UNKNOWN", "error", ""])
def test_a_check_without_a_clear_result_is_no_test_result(status: str) -> None:
    record = Evidence(Kind.CHECK, "check:1", NOW, Outcome(status))
    entry = entry_of(record)
    assert statement_of(entry, record)["predicateType"] == RECORD


def entry_of(record: Evidence) -> Entry:
    content = canonical(content_of(record))
    return Entry(linked(1, GENESIS, content), content)


def test_a_ledger_that_is_not_sound_is_not_signed(whole: Exported, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole.path, tmp_path / "state.db"))
    reforged(path, 9, "json_set(content, '$.body.note', 'changed')")
    with pytest.raises(LedgerFaulty, match="look with `agent-fox ledger verify`"):
        exported(path)


def test_an_export_of_an_empty_ledger_is_a_checkpoint(tmp_path: Path) -> None:
    with opened(tmp_path / "state.db"):
        pass
    texts = exported(tmp_path / "state.db")
    assert len(texts) == 1
    assert verify_export(texts, (ME,)).checked.findings.is_sound


def test_memory_does_not_grow_with_the_export(whole: Exported) -> None:
    with closing(read_state(whole.path)) as db:
        stream = lines(db, unsigned, repository="", at=NOW)
        for _ in range(whole.records // 5):
            next(stream)
        tracemalloc.start()
        for _ in stream:
            pass
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_000_000, peak


RESOURCE = {"name", "uri", "digest", "content", "downloadLocation", "mediaType", "annotations"}
RESULT = {"result", "configuration", "url", "passedTests", "warnedTests", "failedTests"}
"""The fields that in-toto's ResourceDescriptor and its test-result v0.1 have: a strict reader refuses any other."""


def results(texts: list[str]) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", one) for one in payloads(texts) if one["predicateType"] == TEST_RESULT]


def test_a_test_result_has_fields_that_in_toto_knows_alone(whole: Exported) -> None:
    found = results(whole.texts)
    assert found
    for one in found:
        assert one.keys() == {"_type", "subject", "predicateType", "predicate"}
        assert one["predicate"].keys() <= RESULT
        assert all(each.keys() <= RESOURCE for each in (*one["subject"], *one["predicate"]["configuration"]))


def test_the_library_of_in_toto_reads_every_statement_strictly(whole: Exported) -> None:
    library = pytest.importorskip("in_toto_attestation.predicates.test_result.v0.test_result_pb2", reason=NO_LIBRARY)
    statements = import_module("in_toto_attestation.v1.statement")
    form = import_module("google.protobuf.json_format")
    for one in payloads(whole.texts):
        read = form.ParseDict(one, import_module("in_toto_attestation.v1.statement_pb2").Statement())
        statements.Statement.copy_from_pb(read).validate()
    for one in results(whole.texts):
        form.ParseDict(one["predicate"], library.TestResult())


NO_LIBRARY = "in-toto-attestation is not installed: only the names of the fields are checked"


def test_the_record_in_a_test_result_is_a_resource_named_by_its_digest(whole: Exported) -> None:
    for one in results(whole.texts):
        resource = one["predicate"]["configuration"][-1]
        content = base64.b64decode(resource["content"])
        assert resource["digest"] == {"sha256": hashlib.sha256(content).hexdigest()}
        assert json.loads(content)["kind"] in ("check", "close-out")


def in_old_form(texts: list[str]) -> list[str]:
    """The export as it was written before: signed, each test-result with its record in a field of its own."""
    found = []
    for text in texts:
        match read_line(text, (ME,)).held:
            case (entry, record):
                payload = canonical(statement_of(entry, record, OLD)).encode()
                found.append(signing(PRIVATE)(payload).to_json() + "\n")
            case _:
                found.append(text)
    return found


def test_an_export_of_the_old_form_is_still_read_and_told(whole: Exported) -> None:
    texts = in_old_form(whole.texts)
    assert texts != whole.texts
    assert all(RECORD in one["predicate"] for one in results(texts))
    old, new = verify_export(texts, (ME,)), verify_export(whole.texts, (ME,))
    assert (old.checked.findings.is_sound, old.forms, old.checked.findings.remarks) == (True, (OLD,), [OLD_FORM])
    assert (new.checked.findings.is_sound, new.forms, new.checked.findings.remarks) == (True, (STRICT,), [])
    assert old.checked.count == new.checked.count


@pytest.mark.parametrize(
    "spoil",
    [
        lambda one: one["predicate"]["configuration"].append(one["predicate"]["configuration"][-1]),
        lambda one: one["predicate"]["configuration"].reverse(),
        lambda one: one["predicate"]["configuration"][-1].update(content="e30="),
        lambda one: one["predicate"]["configuration"][-1].update(content="?"),
        lambda one: one["predicate"]["configuration"][-1].update(content=base64.b64encode(b"\xff").decode()),
        lambda one: one["predicate"]["configuration"][-1].update(digest={"sha256": "0" * 64}),
        lambda one: one["predicate"]["configuration"][-1]["annotations"].update(content={}),
        lambda one: one["predicate"]["configuration"][-1]["annotations"].update(position=1.0),
        lambda one: one["predicate"].update(configuration=[]),
        lambda one: one["predicate"].update(result="FAILED"),
    ],
)
def test_a_test_result_that_says_something_else_than_its_record_is_found(
    whole: Exported, spoil: Callable[[Any], object]
) -> None:
    start, one = next((n, one) for n, one in enumerate(payloads(whole.texts)) if one["predicateType"] == TEST_RESULT)
    spoil(one)
    line = read_line(signing(PRIVATE)(canonical(cast("Any", one)).encode()).to_json() + "\n", (ME,))
    assert follow(whole.walks[start], line).faults
