"""What a commit is worth, as one signed statement: a verification summary of SLSA, v1, and what it comes to elsewhere.

The subject is the commit; what the summary has no field for is an annotation of it: how each requirement is known,
and what was waived until when. What is proven is decided elsewhere. Source: slsa.dev/spec/v1.0/verification_summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.ledger.evidence import canonical
from agent_fox.core.values import Json, dataclass
from agent_fox.core.words import counted, listed
from agent_fox.evidence.exports.statements import OBJECT_ID, OURS, PAYLOAD_TYPE, STATEMENT
from agent_fox.evidence.signing import dsse
from agent_fox.evidence.signing.dsse import Envelope
from agent_fox.evidence.signing.keys import LEDGER, KeyTrouble, Signer

SUMMARY = "https://slsa.dev/verification_summary/v1"
COMMIT = f"{OURS}:commit:v1"
"""The name of our annotation of the subject."""

VERIFIER = "urn:agent-fox:verifier"
POLICY = "urn:agent-fox:policy"
RECORD = "urn:agent-fox:ledger-record"
HEAD = "urn:agent-fox:ledger-head"
WAIVER = "urn:agent-fox:waiver"
PROVEN, WAIVED = "AGENT_FOX_PROVEN", "AGENT_FOX_WAIVED"
"""Levels of ours: every requirement passes; or what does not is waived."""

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
ObjectId = Annotated[str, Field(pattern=f"^(?:{OBJECT_ID.pattern})$")]
Result = Literal["PASSED", "FAILED"]


class _Form(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Requirement(_Form):
    """One requirement: `state` is `proven`, `waived`, or why it is neither; `how` it is known; the record of its
    verdict, empty where there is none. `readOn`: the tree that it was read on, where that is an older one: nothing that
    it rests on differs."""

    spec: str
    requirement: str
    version: str
    state: str
    how: str
    record: str
    read_on: str = Field(default="", alias="readOn", pattern=f"^(?:{OBJECT_ID.pattern})?$")

    @property
    def counts(self) -> bool:
        return self.state in ("proven", "waived")


class WaivedUntil(_Form):
    """A waiver that the answer rests on. `expiresAt` is ISO 8601, UTC; `envelope` the SHA-256 of what was signed."""

    id: str
    spec: str
    requirement: str
    signer: str
    reason: str
    expires_at: str = Field(alias="expiresAt")
    envelope: Sha256


class About(_Form):
    """Our annotation: `repository` is its first commit; `tree` what the evidence is about."""

    repository: str
    tree: ObjectId
    requirements: tuple[Requirement, ...] = Field(strict=False)
    waivers: tuple[WaivedUntil, ...] = Field(strict=False)
    problems: tuple[str, ...] = Field(strict=False)


class Resource(_Form):
    uri: str
    digest: dict[Literal["sha256"], Sha256]


class _Digest(_Form):
    commit: ObjectId = Field(alias="gitCommit")


class _Subject(_Form):
    name: Literal["commit"]
    digest: _Digest
    annotations: dict[Literal["urn:agent-fox:attestation:commit:v1"], About]


class _Verifier(_Form):
    id: str


class _Predicate(_Form):
    verifier: _Verifier
    time: str = Field(alias="timeVerified")
    uri: str = Field(alias="resourceUri")
    policy: Resource
    inputs: tuple[Resource, ...] = Field(alias="inputAttestations", strict=False)
    result: Result = Field(alias="verificationResult")
    levels: tuple[str, ...] = Field(alias="verifiedLevels", strict=False)
    version: Literal["1.0"] = Field(alias="slsaVersion")


class _Statement(_Form):
    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[_Subject] = Field(strict=False)
    kind: Literal["https://slsa.dev/verification_summary/v1"] = Field(alias="predicateType")
    predicate: _Predicate


@dataclass(frozen=True, slots=True)
class Attestation:
    """What is stated of a commit. `policy` is the SHA-256 of the settings that decide; `head` the ledger's."""

    commit: str
    at: str
    verifier: str
    policy: str
    head: str
    about: About

    @property
    def result(self) -> Result:
        requirements = self.about.requirements
        is_fine = requirements and not self.about.problems and all(each.counts for each in requirements)
        return "PASSED" if is_fine else "FAILED"

    def payload(self) -> bytes:
        return canonical(self._statement()).encode()

    def _statement(self) -> dict[str, Json]:
        about: Json = self.about.model_dump(mode="json", by_alias=True)
        level = WAIVED if self.about.waivers else PROVEN
        predicate: Json = {
            "verifier": {"id": f"{VERIFIER}:{self.verifier}"},
            "timeVerified": self.at,
            "resourceUri": f"git:{self.about.repository}@{self.commit}",
            "policy": {"uri": POLICY, "digest": {"sha256": self.policy}},
            "inputAttestations": list(self._inputs()),
            "verificationResult": self.result,
            "verifiedLevels": [level if self.result == "PASSED" else "FAILED"],
            "slsaVersion": "1.0",
        }
        subject: Json = [{"name": "commit", "digest": {"gitCommit": self.commit}, "annotations": {COMMIT: about}}]
        return {"_type": STATEMENT, "subject": subject, "predicateType": SUMMARY, "predicate": predicate}

    def _inputs(self) -> Iterator[Json]:
        """The ledger by its head, and what of it the answer rests on."""
        yield {"uri": HEAD, "digest": {"sha256": self.head}}
        records = dict.fromkeys(each.record for each in self.about.requirements if each.record)
        for record in records:
            yield {"uri": RECORD, "digest": {"sha256": record}}
        for waiver in self.about.waivers:
            yield {"uri": f"{WAIVER}:{waiver.id}", "digest": {"sha256": waiver.envelope}}


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a commit may count as done by an attestation: no reason against it. `signer` is the key's id."""

    commit: str
    reasons: tuple[str, ...]
    signer: str = ""
    at: str = ""
    about: About | None = None

    @property
    def passed(self) -> bool:
        return not self.reasons


def answer(text: str, commit: str, signers: tuple[Signer, ...], now: str) -> Answer:
    """What an attestation says of a commit at the time `now` (ISO 8601, UTC). Never raises for bad input."""
    try:
        envelope = Envelope.from_json(text)
        signer = _signer(envelope, signers)
        statement = _read(envelope.payload)
    except (ValueError, KeyTrouble) as error:
        return Answer(commit, (str(error),))
    about = statement.subject[0].annotations.get("urn:agent-fox:attestation:commit:v1")
    if about is None:
        return Answer(commit, ("it does not say how its requirements are known",), signer)
    return Answer(commit, tuple(_reasons(statement, about, commit, now)), signer, statement.predicate.time, about)


def _signer(envelope: Envelope, signers: tuple[Signer, ...]) -> str:
    """Raises ValueError where none of these has signed these very bytes."""
    if envelope.payload_type != PAYLOAD_TYPE:
        raise ValueError(f"its payload is {envelope.payload_type!r}, and not a statement of in-toto")
    holding = dsse.verified_by(envelope, signers, LEDGER)
    if not holding:
        named = ", ".join(signature.keyid for signature in envelope.signatures) or "nobody"
        wanted = ", ".join(f"{signer.principal} ({signer.key.id})" for signer in signers)
        raise ValueError(f"it was changed after it was signed, or is not signed by {wanted}; it names {named}")
    return holding[0].key.id


def _read(payload: bytes) -> _Statement:
    """Raises ValueError for anything but a summary as ours are."""
    try:
        return _Statement.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"it is no verification summary of agent-fox: {where}: {first['msg']}") from error


def _reasons(statement: _Statement, about: About, commit: str, now: str) -> Iterator[str]:
    subject, predicate = statement.subject[0].digest.commit, statement.predicate
    if subject != commit:
        yield f"it is about commit {subject[:12]}, and {commit[:12]} is asked for"
    if not predicate.verifier.id.startswith(f"{VERIFIER}:"):
        yield f"its verifier is {predicate.verifier.id}, and not agent-fox"
    if predicate.time > now:
        yield f"it was made at {predicate.time}, which is in the future by this clock"
    yield from about.problems
    open_ones = [f"{each.spec}/{each.requirement} ({each.state})" for each in about.requirements if not each.counts]
    if open_ones:
        yield f"{counted(len(open_ones), 'requirement')} not proven: {listed(open_ones)}"
    if not about.requirements:
        yield "it is about no requirement at all"
    if predicate.result != "PASSED":
        yield "its result is FAILED"
    yield from _waiver_reasons(about, now)


def _waiver_reasons(about: About, now: str) -> Iterator[str]:
    """A waiver counts until it expires, and each waived requirement has one."""
    waivers = {(waiver.spec, waiver.requirement): waiver for waiver in about.waivers}
    for each in about.requirements:
        waiver = waivers.get((each.spec, each.requirement))
        if each.state == "waived" and waiver is None:
            yield f"{each.spec}/{each.requirement} is waived by nobody"
        elif each.state == "waived" and waiver and waiver.expires_at <= now:
            yield f"the waiver of {each.spec}/{each.requirement} by {waiver.signer} expired at {waiver.expires_at}"
