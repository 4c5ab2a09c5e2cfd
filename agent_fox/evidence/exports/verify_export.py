"""Whether an export is the whole ledger that somebody trusted signed: from the file and a public key alone.

A line is read by itself, then held against the line before it: both are values, so that a check can begin anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_fox.core.ledger.evidence import GENESIS, Evidence, Json
from agent_fox.core.values import dataclass
from agent_fox.evidence.documents import at_path, document
from agent_fox.evidence.exports.checkpoints import Checkpoint, checkpoint_in, gate_lines
from agent_fox.evidence.exports.statements import CHECKPOINT, OLD, PAYLOAD_TYPE, form_of, record_in
from agent_fox.evidence.faults import Fault
from agent_fox.evidence.signing import dsse
from agent_fox.evidence.signing.dsse import Envelope
from agent_fox.evidence.signing.keys import LEDGER, KeyTrouble, Signer
from agent_fox.evidence.verify import CUT, Checked, check_waivers
from agent_fox.evidence.walk import Entry, Step, Walk, step

FORGED = "the export was changed after it was signed, or somebody else made it"
UNFINISHED = "its end was cut off, or it was put together from several exports"
OLD_FORM = (
    "its test-results are of form 1, which strict readers of in-toto refuse; `agent-fox ledger export` writes form 2"
)
WHO = "who made this export"


@dataclass(frozen=True, slots=True)
class Line:
    """One line by itself: the record or the checkpoint in it, and who signed it (the key's id, empty: nobody known).

    `form`: that of a test-result, see `statements`; None for any other statement.
    """

    held: tuple[Entry, Evidence] | Checkpoint | None
    signer: str = ""
    is_signed: bool = False
    trouble: str = ""
    form: int | None = None


def read_line(text: str, signers: tuple[Signer, ...]) -> Line:
    """What a line holds, if a trusted one signed it. Without signers, what it holds. Never raises for bad input."""
    try:
        envelope = Envelope.from_json(text)
        signer = _signer(envelope, text, signers)
        statement = document(envelope.payload.decode())
        return Line(_held(envelope.payload, statement), signer, bool(envelope.signatures), form=form_of(statement))
    except ValueError as error:
        return Line(None, trouble=str(error))


def _signer(envelope: Envelope, text: str, signers: tuple[Signer, ...]) -> str:
    """The key that signed an envelope, empty where no key is known. Raises ValueError where it is none of these."""
    if envelope.payload_type != PAYLOAD_TYPE or f"{envelope.to_json()}\n" != text:
        raise ValueError("its envelope is not spelled as exports are")
    if not signers:
        return ""
    match envelope.signatures:
        case ():
            raise ValueError("it is not signed")
        case (signature,) if signature.form == "ed25519":
            ids = {signer.key.id for signer in _holding(envelope, signers)}
            if signature.keyid in ids:
                return signature.keyid
            raise ValueError(f"its signature is not one of {', '.join(s.principal for s in signers)}")
    raise ValueError("it is not signed once, by an Ed25519 key")


def _holding(envelope: Envelope, signers: tuple[Signer, ...]) -> tuple[Signer, ...]:
    try:
        return dsse.verified_by(envelope, signers, LEDGER)
    except KeyTrouble as error:
        raise ValueError(str(error)) from error


def _held(payload: bytes, statement: Json) -> tuple[Entry, Evidence] | Checkpoint:
    is_checkpoint = at_path(statement, ("predicateType",)) == CHECKPOINT
    return checkpoint_in(payload) if is_checkpoint else record_in(payload, statement)


def follow(walk: Walk, line: Line) -> Step:
    """Take the next line as a record behind the others."""
    match line.held:
        case (entry, _):
            return step(walk, entry)
        case Checkpoint():
            return Step(walk, None, (Fault(walk.position, "a checkpoint stands before other lines", UNFINISHED),))
        case None:
            after = Walk(walk.position + 1, walk.head, walk.at)
            return Step(after, None, (Fault(after.position, line.trouble, FORGED),))


def closing(walk: Walk, line: Line | None) -> Iterator[Fault]:
    """Whether the last line is the checkpoint of exactly these records."""
    if line is None or (line.held is not None and not isinstance(line.held, Checkpoint)):
        yield Fault(0, "the last line is no checkpoint", UNFINISHED)
    elif line.held is None:
        yield Fault(0, f"the checkpoint cannot be believed: {line.trouble}", FORGED)
    elif (line.held.count, line.held.head, line.held.at) != (walk.position, walk.head, walk.at):
        what = f"the checkpoint is about {line.held.count} records, to {line.held.head[:16]}"
        yield Fault(0, f"{what}; here are {walk.position}, to {walk.head[:16]}", UNFINISHED)


@dataclass(frozen=True, slots=True)
class CheckedExport:
    """What an export comes to. `signers` are the keys that signed its lines; `forms` those of its test-results."""

    checked: Checked
    checkpoint: Checkpoint | None
    signers: tuple[str, ...]
    forms: tuple[int, ...] = ()


def verify_export(
    texts: Iterable[str], signers: tuple[Signer, ...], *, waiver_signers: tuple[Signer, ...] = (),
    noted: Iterable[str] = (),
) -> CheckedExport:  # fmt: skip
    """Check every line, to the end. `noted`: heads that somebody noted earlier, and that must be in the chain."""
    checked, wanted, keys, forms = Checked(passed={GENESIS: 0}), set(noted), set[str](), set[int]()
    last: Line | None = None
    for line in (read_line(text, signers) for text in texts):
        if last is not None:
            _take(checked, last, wanted)
        last = line
        keys.add(line.signer)
        forms.update([line.form] if line.form else [])
        if line.held is not None and not line.is_signed:
            checked.findings.unknown(WHO, "it is not signed: anybody can have written it")
    checkpoint = last.held if last and isinstance(last.held, Checkpoint) else None
    checked.findings.add(*closing(checked.walk, last), *_lost(checked, wanted), *_several(keys - {""}))
    if checkpoint:
        checked.findings.add(*_other_answers(checked, checkpoint))
    if not signers:
        checked.findings.unknown(WHO, "no public key of a signer was given, or is trusted here")
    check_waivers(checked, waiver_signers)
    if OLD in forms:
        checked.findings.remarks.append(OLD_FORM)
    return CheckedExport(checked, checkpoint, tuple(sorted(keys - {""})), tuple(sorted(forms)))


def _take(checked: Checked, line: Line, wanted: set[str]) -> None:
    """A line that is not the last."""
    taken = follow(checked.walk, line)
    checked.walk = taken.walk
    checked.findings.add(*taken.faults)
    match line.held:
        case (entry, record):
            checked.note(entry, record, wanted)


def _several(keys: set[str]) -> Iterator[Fault]:
    if len(keys) > 1:
        yield Fault(0, f"its lines are signed by {len(keys)} keys: {', '.join(sorted(keys))}", UNFINISHED)


def _lost(checked: Checked, wanted: set[str]) -> Iterator[Fault]:
    for head in sorted(wanted - checked.passed.keys()):
        yield Fault(0, f"the head {head[:16]} that was noted is not in the chain", CUT)


def _other_answers(checked: Checked, checkpoint: Checkpoint) -> Iterator[Fault]:
    """Where the records alone give another answer than the one that was signed."""
    planned = {(gate.spec, gate.requirement) for gate in checkpoint.gates if gate.in_plan}
    if gate_lines(checked.fold, planned) != checkpoint.gates:
        yield Fault(0, "the gates stand otherwise by the records than by the checkpoint", FORGED)
    for run in checkpoint.runs:
        if any(head and head not in checked.passed for head in (run.begin, run.end)):
            yield Fault(0, f"a head noted for run {run.run} is not in the chain", CUT)
