"""One signed statement about a commit: made where it was proven, and answering in a clone that has no state."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from agent_fox.evidence.exports import attestation
from agent_fox.evidence.exports.attestation import COMMIT, SUMMARY
from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.signing.keys import LEDGER, Signer
from agent_fox.testing.worlds import NEVER, Req, World, git
from tests.cli.evidence.test_ledger import Desk
from tests.evidence.waiver_world import ONE_TRY, person
from tests.stories.test_close_out import action

BRANCH = "agent-fox/integration"
NOW = "2099-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A machine where a plan was proven and taken over, with a key for evidence and a statement about HEAD."""
    home = tmp_path_factory.mktemp("maker")
    desk = Desk(home, World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", 1)]}).build(home / "w"))
    desk.tell("run")
    git(desk.root, "merge", "-q", BRANCH)
    desk.tell("keys", "new", "ledger", "--no-passphrase")
    desk.tell("attest", "HEAD", "--key", "ledger", "--output", str(home / "evidence.json"))
    shutil.copy(home / "config" / "agent-fox" / "ledger.pub", home)
    return desk


@pytest.fixture
def reader(maker: Desk, tmp_path: Path) -> Desk:
    """Another machine with a clone, which has neither state nor keys."""
    git(tmp_path, "clone", "-q", str(maker.root), "clone")
    return Desk(tmp_path, tmp_path / "clone")


def gate(reader: Desk, maker: Desk, evidence: Path | None = None, commit: str = "HEAD", ends: int = 0) -> str:
    file, key = evidence or maker.home / "evidence.json", maker.home / "ledger.pub"
    return reader.tell("gate", "--commit", commit, "--evidence", str(file), "--key", str(key), ends=ends)


def test_a_clone_without_a_state_is_told_how_the_commit_is_known(maker: Desk, reader: Desk) -> None:
    assert not (reader.root / ".agent-fox" / "state.db").exists()
    told = gate(reader, maker).splitlines()
    head = git(reader.root, "rev-parse", "HEAD")
    assert told[0] == "2 judged"
    assert told[1].startswith(f"passed: {head[:12]}, signed by SHA256:")
    document = reader.ask(
        "gate",
        "--commit",
        "HEAD",
        "--evidence",
        str(maker.home / "evidence.json"),
        "--key",
        str(maker.home / "ledger.pub"),
    )
    assert (document["passed"], document["commit"], document["reasons"]) == (True, head, [])
    about = document["about"]
    assert isinstance(about, dict)
    assert [(each["requirement"], each["state"], each["how"]) for each in about["requirements"]] == [
        ("01-REQ-1.1", "proven", "judged"), ("01-REQ-1.2", "proven", "judged"),
    ]  # fmt: skip


def test_the_action_answers_by_it_too(maker: Desk, reader: Desk, tmp_path: Path) -> None:
    for evidence, ends, shown in ((maker.home / "evidence.json", 0, "`2 judged`"), (Path("none.json"), 1, "")):
        summary = tmp_path / f"{ends}.md"
        variables = {"GATE_EVIDENCE": str(evidence), "GATE_KEY": str(maker.home / "ledger.pub")}
        done = action(reader.root, "", **variables, GITHUB_STEP_SUMMARY=str(summary))
        assert (done.returncode, shown in (summary.read_text() if summary.exists() else "")) == (ends, True), done


def test_another_commit_is_a_no(maker: Desk, reader: Desk) -> None:
    (reader.root / "later.txt").write_text("later\n")
    git(reader.root, "add", "-A")
    git(reader.root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "later")
    told = gate(reader, maker, ends=2)
    assert told.startswith("no: it is about commit ")
    assert told.splitlines()[-1].startswith("blocked: ")


def test_what_was_changed_or_signed_by_another_is_a_no(maker: Desk, reader: Desk, tmp_path: Path) -> None:
    envelope = json.loads((maker.home / "evidence.json").read_text())
    payload = base64.b64decode(envelope["payload"]).decode()
    envelope["payload"] = base64.b64encode(payload.replace("judged", "hidden").encode()).decode()
    tampered = tmp_path / "tampered.json"
    tampered.write_text(json.dumps(envelope))
    assert "no: it was changed after it was signed, or is not signed by " in gate(reader, maker, tampered, ends=2)
    tampered.write_text("{}")
    assert gate(reader, maker, tampered, ends=2).startswith("no: no signed envelope")
    reader.tell("keys", "new", "mine", "--no-passphrase")
    told = reader.tell(
        "gate", "--commit", "HEAD", "--evidence", str(maker.home / "evidence.json"), "--key", "mine", ends=2
    )
    assert "or is not signed by mine (SHA256:" in told


def test_mistakes_in_what_was_asked(maker: Desk, reader: Desk) -> None:
    file = str(maker.home / "evidence.json")
    assert "--key PUB" in reader.error("gate", "--evidence", file)
    assert "no such commit" in reader.error("gate", "--commit", "nowhere", "--evidence", file, "--key", "x")
    assert "agent-fox attest" in reader.error(
        "gate", "--evidence", "none.json", "--key", str(maker.home / "ledger.pub")
    )
    assert reader.do("gate", "--evidence", file, "--task-id", "T").returncode == 1
    assert "no such commit" in maker.error("attest", "nowhere", "--key", "ledger")


def test_the_summary_is_appended_as_markdown(maker: Desk, reader: Desk, tmp_path: Path) -> None:
    key = str(maker.home / "ledger.pub")
    arguments = ("--evidence", str(maker.home / "evidence.json"), "--key", key, "--summary", str(tmp_path / "s.md"))
    reader.tell("gate", "--commit", "HEAD", *arguments)
    assert (tmp_path / "s.md").read_text().startswith("## agent-fox gate\n\n- `2 judged`\n- `passed: ")


def test_a_commit_with_other_files_is_attested_as_not_proven(maker: Desk, tmp_path: Path) -> None:
    root = Path(shutil.copytree(maker.root, tmp_path / "copy"))
    desk = Desk(maker.home, root)
    first = git(root, "rev-list", "--max-parents=0", "HEAD")
    told = desk.tell("attest", first, "--key", "ledger", "--output", str(tmp_path / "e.json"), ends=2)
    assert told.startswith("FAILED: 0 of 2 requirements of ")
    told = desk.tell("gate", "--commit", first, "--evidence", str(tmp_path / "e.json"), "--key", "ledger", ends=2)
    assert "2 requirements not proven: 01_calc/01-REQ-1.1 (passed on other code)" in told


def test_a_waiver_counts_until_it_expires(tmp_path: Path) -> None:
    alice = person(tmp_path / "people")
    root = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", right_at=NEVER)]}, settings=ONE_TRY).build(
        tmp_path / "w"
    )
    alice.run(root, 2)
    alice.waive(root, "01-REQ-1.2")
    alice.run(root, 0)
    alice.cli(root, "keys", "new", "ledger", "--no-passphrase")
    done = alice.cli(root, "attest", BRANCH, "--key", "ledger")
    assert done.returncode == 0, done
    assert "1 of them waived" in done.stderr
    key = keys.read_public(alice.keys / "ledger.pub")
    commit = git(root, "rev-parse", BRANCH)
    signers = (Signer("ledger", (LEDGER,), key),)
    statement = json.loads(base64.b64decode(json.loads(done.stdout)["payload"]))
    (waiver,) = statement["subject"][0]["annotations"][COMMIT]["waivers"]
    assert statement["predicate"]["verifiedLevels"] == ["AGENT_FOX_WAIVED"]
    at = statement["predicate"]["timeVerified"]
    assert attestation.answer(done.stdout.strip(), commit, signers, at).passed
    late = attestation.answer(done.stdout.strip(), commit, signers, NOW)
    assert late.reasons == (f"the waiver of 01_calc/01-REQ-1.2 by alice expired at {waiver['expiresAt']}",)


def changed(text: str) -> Callable[[Callable[[dict[str, object]], None]], str]:
    """The statement with something else in it, signed again by a key that is trusted."""

    def sign(change: Callable[[dict[str, object]], None]) -> str:
        statement = json.loads(base64.b64decode(json.loads(text)["payload"]))
        change(statement)
        return dsse.sign("application/vnd.in-toto+json", json.dumps(statement).encode(), PRIVATE).to_json()

    return sign


PRIVATE = import_module("cryptography.hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()


ABOUT = ("subject", 0, "annotations", COMMIT)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("predicateType",), "https://slsa.dev/provenance/v1", "it is no verification summary of agent-fox: predicate"),
        (("predicate", "verificationResult"), "FAILED", "its result is FAILED"),
        (("predicate", "verifier", "id"), "urn:other", "its verifier is urn:other, and not agent-fox"),
        (("predicate", "timeVerified"), NOW, f"it was made at {NOW}, which is in the future by this clock"),
        (ABOUT[:3], {}, "it does not say how its requirements are known"),
        ((*ABOUT, "requirements"), [], "it is about no requirement at all"),
        ((*ABOUT, "requirements", 0, "state"), "fails", "1 requirement not proven: 01_calc/"),
        ((*ABOUT, "requirements", 0, "state"), "waived", "01_calc/01-REQ-1.1 is waived by nobody"),
        ((*ABOUT, "problems"), ["02_x is left out"], "02_x is left out"),
        (("more",), 1, "it is no verification summary of agent-fox: more"),
    ],
)
def test_each_no_has_its_reason(maker: Desk, path: tuple[str | int, ...], value: object, reason: str) -> None:
    def change(statement: dict[str, object]) -> None:
        place: object = statement
        for step in path[:-1]:
            place = place[step]  # type: ignore[index]
        place[path[-1]] = value  # type: ignore[index]

    text = (maker.home / "evidence.json").read_text()
    signers = (Signer("me", (LEDGER,), keys.public_of(PRIVATE)),)
    commit = git(maker.root, "rev-parse", "HEAD")
    at = json.loads(base64.b64decode(json.loads(text)["payload"]))["predicate"]["timeVerified"]
    reasons = attestation.answer(changed(text)(change), commit, signers, at).reasons
    assert any(each.startswith(reason) for each in reasons), reasons


def test_the_libraries_of_others_read_and_check_it(maker: Desk) -> None:
    library = pytest.importorskip(
        "in_toto_attestation.predicates.vsa.v1.vsa_pb2", reason="in-toto-attestation is missing"
    )
    envelopes = pytest.importorskip("securesystemslib.dsse", reason="securesystemslib is missing")
    signers = import_module("securesystemslib.signer")
    serialization = import_module("cryptography.hazmat.primitives.serialization")
    form = import_module("google.protobuf.json_format")
    envelope = envelopes.Envelope.from_dict(json.loads((maker.home / "evidence.json").read_text()))
    line = (maker.home / "ledger.pub").read_text()
    public = serialization.load_ssh_public_key(line.encode())
    key = signers.SSlibKey.from_crypto(public, keyid=keys.PublicKey(line.strip()).id)
    assert list(envelope.verify([key], 1)) == [key.keyid]
    statement = json.loads(envelope.payload)
    read = form.ParseDict(statement, import_module("in_toto_attestation.v1.statement_pb2").Statement())
    import_module("in_toto_attestation.v1.statement").Statement.copy_from_pb(read).validate()
    assert (statement["predicateType"], read.subject[0].digest["gitCommit"]) == (
        SUMMARY, git(maker.root, "rev-parse", "HEAD"),
    )  # fmt: skip
    (level,) = statement["predicate"]["verifiedLevels"]
    as_its_library = {**statement["predicate"], "verifiedLevels": level}  # SLSA has a list there, the library one text
    summary = form.ParseDict(as_its_library, library.VerificationSummary())
    assert (summary.verification_result, summary.verified_levels) == ("PASSED", "AGENT_FOX_PROVEN")
    assert summary.policy.digest["sha256"]
    assert {resource.uri for resource in summary.input_attestations} == {
        "urn:agent-fox:ledger-head", "urn:agent-fox:ledger-record",
    }  # fmt: skip
