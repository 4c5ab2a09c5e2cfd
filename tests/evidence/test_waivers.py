"""Waivers drawn up, signed and read again: by a key file, by ssh-keygen, by an SSH agent; and what they depend on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlite_utils import Database

from agent_fox.core.ledger.waivers import PAYLOAD_TYPE, AboutFinding, AboutRequirement, Statement
from agent_fox.core.spec import Dependency, Spec
from agent_fox.evidence import granting, waivers
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.evidence.signing import dsse, keys, ssh, trust
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.evidence.waivers import Grounds
from agent_fox.store import plan
from agent_fox.store.plan import StoredPart
from agent_fox.store.state import transaction
from agent_fox.testing.worlds import commit_all, first_commit, git
from tests.evidence.waiver_world import PASSPHRASE, Person, person
from tests.states import fresh_state

NOW = "2030-01-01T12:00:00.000Z"
LATER = "2030-03-01T00:00:00.000Z"
SPEC, PART = "02_top", "02-REQ-1.1"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "link").symlink_to("src/a.py")
    first_commit(root)
    return root


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return person(tmp_path / "people")


@pytest.fixture
def grounds(repo: Path, alice: Person) -> Grounds:
    return Grounds(repo, {**os.environ, **alice.environ}, "agent-fox/integration", (repo.parent / "state",))


@pytest.fixture
def db(repo: Path) -> Iterator[Database]:
    """A plan of a spec that depends on another."""
    with closing(fresh_state(repo / ".agent-fox" / "state.db")) as state:
        with transaction(state):
            below = Spec("01_base", "agent-fox", "specs/01_base")
            top = Spec(SPEC, "agent-fox", f"specs/{SPEC}", dependencies=(Dependency("01_base", None, None),))
            plan.save_specs(state, [below, top], {})
            plan_with(state, "v1")
        yield state


def plan_with(db: Database, base: str) -> None:
    plan.save_parts(db, [StoredPart("01_base", "B", "B", "text", base), StoredPart(SPEC, PART, PART, "text", "v1")])


def draw_up(db: Database, grounds: Grounds, alice: Person, *files: str, **changes: object) -> Statement:
    about = AboutRequirement(SPEC, PART, "v1")
    depends = granting.dependencies(db, grounds, about, files)
    key = keys.read_public(alice.key.with_suffix(".pub")).id
    made = Statement("a" * 20, grounds.repository, about, depends, "a reason", NOW, LATER, "alice", key)
    return replace(made, **changes)  # type: ignore[arg-type]


def private(alice: Person) -> Ed25519PrivateKey:
    return keys.load_key(alice.key, PASSPHRASE)


def again(grounds: Grounds) -> Grounds:
    """Looked up anew, as for every use."""
    return Grounds(grounds.root, grounds.environ, grounds.branch, grounds.workplaces)


def test_what_was_signed_is_read_again_and_counts(db: Database, grounds: Grounds, alice: Person) -> None:
    said = draw_up(db, grounds, alice, "src/a.py")
    with transaction(db):
        held = granting.keep(db, grounds, NOW, granting.sign_with_key(said, private(alice)))
    assert (held.statement, held.why_not) == (said, "")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == {PART}
    assert waivers.waived_now(db, again(grounds), NOW, "01_base") == frozenset()


def test_a_waiver_depends_on_the_specs_below_and_on_the_files_named(
    db: Database, grounds: Grounds, alice: Person
) -> None:
    said = draw_up(db, grounds, alice, "src/a.py")
    assert [name for name, _ in said.dependencies] == ["file:src/a.py", "spec:01_base"]
    with transaction(db):
        granting.keep(db, grounds, NOW, granting.sign_with_key(said, private(alice)))
        plan_with(db, "v2")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == frozenset()
    with transaction(db):
        plan_with(db, "v1")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == {PART}
    (grounds.root / "src" / "a.py").write_text("a = 2\n")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == {PART}, "what is not committed is not at the tip"
    commit_all(grounds.root, "changed")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == frozenset()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing.py", "no such file at the tip"),
        ("../x", "no such file"),
        ("/etc/passwd", "no such"),
        ("link", "a link"),
    ],
)
def test_a_file_to_depend_on_must_be_one(db: Database, grounds: Grounds, alice: Person, path: str, why: str) -> None:
    with pytest.raises(WaiverRefused, match=why):
        draw_up(db, grounds, alice, path)


def test_a_waiver_that_would_not_count_is_not_kept(db: Database, grounds: Grounds, alice: Person) -> None:
    said = draw_up(db, grounds, alice, repository="other")
    with pytest.raises(WaiverRefused, match="another repository; nothing was granted"), transaction(db):
        granting.keep(db, grounds, NOW, granting.sign_with_key(said, private(alice)))
    assert db.execute("SELECT count(*) FROM waivers").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM ledger WHERE kind <> 'rows'").fetchone() == (0,)


def test_time_does_not_go_back_behind_the_ledger(db: Database, grounds: Grounds, alice: Person) -> None:
    with transaction(db):
        granting.keep(db, grounds, NOW, granting.sign_with_key(draw_up(db, grounds, alice), private(alice)))
        granting.petition(db, LATER, f"{SPEC}/{PART}", "so time went by")
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == frozenset()


def test_the_repository_is_known_by_its_first_commit(grounds: Grounds, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(grounds.root), "clone")
    elsewhere = Grounds(tmp_path / "clone", grounds.environ, grounds.branch)
    assert elsewhere.repository == grounds.repository == git(grounds.root, "rev-list", "--max-parents=0", "HEAD")


def test_another_branch_in_the_checkout_is_no_other_repository(grounds: Grounds) -> None:
    known = grounds.repository
    git(grounds.root, "branch", grounds.branch)
    git(grounds.root, "checkout", "-q", "--orphan", "pages")
    git(grounds.root, "commit", "-qm", "a new beginning")
    assert again(grounds).repository == known


def test_without_a_commit_nothing_is_known_and_nothing_counts(tmp_path: Path, alice: Person, db: Database) -> None:
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    bare = Grounds(tmp_path / "new", alice.environ, "main")
    assert (bare.repository, bare.why_unusable(db)) == ("", "this repository has no first commit to know it by")


# --- OpenSSH


@pytest.fixture
def ssh_key(alice: Person) -> Path:
    """A key of OpenSSH's own, without passphrase here, trusted as alice's."""
    path = alice.home / "id_ed25519"
    subprocess.run([ssh.program(), "-q", "-t", "ed25519", "-N", "", "-f", path, "-C", "alice"], check=True)
    public = keys.read_public(path.with_name("id_ed25519.pub"))
    keys.trust(alice.keys / keys.SIGNERS, keys.Signer("alice", (keys.WAIVERS,), public))
    return path


def test_what_ssh_keygen_signs_counts(db: Database, grounds: Grounds, alice: Person, ssh_key: Path) -> None:
    said = draw_up(db, grounds, alice, key=ssh.public_key(ssh_key).id)
    with transaction(db):
        granting.keep(db, grounds, NOW, granting.sign_with_ssh(said, ssh_key, grounds))
    assert waivers.waived_now(db, again(grounds), NOW, SPEC) == {PART}


def test_what_ssh_keygen_signed_for_another_purpose_does_not(
    db: Database, grounds: Grounds, alice: Person, ssh_key: Path
) -> None:
    said = draw_up(db, grounds, alice, key=ssh.public_key(ssh_key).id)
    payload = waivers.payload_of(said)
    other = ssh.sign(PAYLOAD_TYPE, payload, ssh_key, "git", grounds.environ)
    assert "nobody who is trusted" in waivers.signed(other.to_json(), grounds.signers)[1]


def test_a_key_of_the_ssh_agent_signs_by_its_public_file(
    db: Database, grounds: Grounds, alice: Person, ssh_key: Path, tmp_path: Path
) -> None:
    socket = tmp_path / "a"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        environ = {**grounds.environ, "SSH_AUTH_SOCK": str(socket)}
        add = ["ssh-add", "-q", str(ssh_key)]
        while subprocess.run(add, env=environ, capture_output=True, check=False).returncode:
            assert agent.poll() is None
        ssh_key.unlink()
        said = draw_up(db, grounds, alice, key=ssh.public_key(Path(f"{ssh_key}.pub")).id)
        envelope = granting.sign_with_ssh(said, Path(f"{ssh_key}.pub"), replace(grounds, environ=environ, files={}))
    finally:
        agent.kill()
        agent.wait()
    assert waivers.signed(envelope, grounds.signers) == (said, "")


def test_a_file_of_openssh_says_whether_a_passphrase_guards_it(ssh_key: Path) -> None:
    assert not ssh.is_guarded(ssh_key)
    assert ssh.is_guarded(Path(f"{ssh_key}.pub"))
    subprocess.run([ssh.program(), "-q", "-p", "-N", "a long one", "-f", ssh_key], check=True, capture_output=True)
    assert ssh.is_guarded(ssh_key)


def test_an_ssh_key_that_is_not_there_or_cannot_sign_is_said(grounds: Grounds, ssh_key: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyTrouble, match="no such key"):
        ssh.sign("t", b"x", tmp_path / "missing", "n", grounds.environ)
    ssh_key.unlink()
    with pytest.raises(KeyTrouble, match="did not sign"):
        ssh.sign("t", b"x", Path(f"{ssh_key}.pub"), "n", grounds.environ)


def test_without_ssh_keygen_its_signatures_do_not_count(
    db: Database, grounds: Grounds, alice: Person, ssh_key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = draw_up(db, grounds, alice, key=ssh.public_key(ssh_key).id, id="c" * 20)
    envelope = granting.sign_with_ssh(said, ssh_key, grounds)
    monkeypatch.setattr(dsse, "SYSTEM", "/nowhere")
    monkeypatch.setattr(ssh, "SYSTEM", "/nowhere")
    assert "ssh-keygen is not installed" in waivers.signed(envelope, grounds.signers)[1]
    with pytest.raises(KeyTrouble, match="not installed"):
        ssh.program()


# --- what is asked of a person's words


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("30d", "2030-01-31T12:00:00.000Z"), ("12h", "2030-01-02T00:00:00.000Z"), ("2w", "2030-01-15T12:00:00.000Z"),
        ("2030-01-31", "2030-02-01T00:00:00.000Z"), ("2030-01-31T10:00:00+02:00", "2030-01-31T08:00:00.000Z"),
    ],
)  # fmt: skip
def test_an_expiry_is_a_span_or_a_date_to_its_end(said: str, end: str) -> None:
    assert granting.expiry(said, NOW) == end


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("2029-12-31", "past"), ("2030-01-01T12:00:00Z", "past"), ("never", "not understood"), ("0d", "not understood"),
        ("", "not understood"), ("-3d", "not understood"), ("400d", "366 days at most"), ("9999w", "366 days at most"),
        ("9999-12-31", "not understood|366"),
    ],
)  # fmt: skip
def test_an_expiry_that_is_none_is_refused(said: str, why: str) -> None:
    with pytest.raises(WaiverRefused, match=why):
        granting.expiry(said, NOW)


def test_a_reason_is_one_line_and_not_empty() -> None:
    assert granting.reason_of(" the vendor\nmends\x1b[31m it ") == "the vendor mends [31m it"
    for said in ("", " \n", "x" * 3000):
        with pytest.raises(WaiverRefused, match="--reason"):
            granting.reason_of(said)


# --- trust


def test_signers_are_trusted_for_waivers_by_name_only(grounds: Grounds, alice: Person) -> None:
    public = keys.read_public(alice.key.with_suffix(".pub"))
    keys.trust(alice.keys / keys.SIGNERS, keys.Signer("robot", (keys.LEDGER,), public))
    assert [one.principal for one in again(grounds).signers] == ["alice"]


def test_a_file_in_a_workplace_is_refused_however_it_is_reached(tmp_path: Path) -> None:
    work, free = tmp_path / "work", tmp_path / "free"
    work.mkdir()
    free.mkdir()
    (free / "key").write_text("k")
    (work / "key").write_text("k")
    (free / "to_work").symlink_to(work)
    (work / "to_free").symlink_to(free)
    (free / "through").symlink_to(work / "to_free")
    for path in (work / "key", free / "to_work" / "key", work / "to_free" / "key", free / "through" / "key"):
        with pytest.raises(KeyTrouble, match="where agents work"):
            trust.refuse_workplace(path, (work,))
    trust.refuse_workplace(free / "key", (work,))


def test_finding_waivers_hold_for_the_attempts_of_their_task(db: Database, grounds: Grounds, alice: Person) -> None:
    digest = waivers.detail_hash("a detail")
    said = draw_up(db, grounds, alice, subject=AboutFinding(f"{SPEC}:1", "rule_block", digest), dependencies=())
    with transaction(db):
        granting.keep(db, grounds, NOW, granting.sign_with_key(said, private(alice)))
    found = waivers.finding_waivers(db, again(grounds), NOW, f"{SPEC}:1@3")
    assert [(key, one.signer, one.reason) for key, one in found.items()] == [
        (("rule_block", digest), "alice", "a reason")
    ]
    assert waivers.finding_waivers(db, again(grounds), NOW, f"{SPEC}:2@1") == {}
