"""What a hostile worker, engine or host far away may hand in or order, and what it gets."""

from __future__ import annotations

import hashlib
import io
import json
import math
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_fox.cli.setup.health_engine import workers as said_of_workers
from agent_fox.cluster import connection, deliveries, packs, parcels
from agent_fox.cluster.connection import Connection
from agent_fox.cluster.engine import engine_of
from agent_fox.cluster.messages import Handed, read_delivery, read_envelope, read_handed, read_parcel, said_in, written
from agent_fox.cluster.packs import Content, PartMissing, Unusable, archive, extract, pack
from agent_fox.cluster.parcels import Bench, Parcel
from agent_fox.cluster.runner import TemporalRunner
from agent_fox.cluster.ssh import NoAddress, split
from agent_fox.config import ClusterSettings
from agent_fox.core.ids import Archetype
from agent_fox.evidence.signing import dsse, keys, workers
from agent_fox.evidence.signing.keys import PublicKey, Signer, new_key
from agent_fox.session.endings import interrupted_end
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, Work
from agent_fox.session.order_document import UnreadableDocument, end_document, read_end
from agent_fox.system import git
from tests.cluster.test_parcels import Shelf
from tests.session.world import make_order, make_repo, sh, shell

Change = Callable[[deliveries.Delivery], deliveries.Delivery]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> LaunchOrder:
    return make_order(make_repo(tmp_path_factory.mktemp("attacks") / "repo"), agent=shell("true"))


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def order(made: LaunchOrder, tmp_path: Path) -> LaunchOrder:
    """An order of one repository, with a folder of its own."""
    return replace(made, state=tmp_path / "state", log=tmp_path / "log" / "it.log")


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ed25519PrivateKey, PublicKey]:
    folder = tmp_path_factory.mktemp("keys")
    public = new_key(folder / "worker.pem", None)
    return keys.load_key(folder / "worker.pem", None), public


def handed(order: LaunchOrder, shelf: Shelf, end: SessionEnd, *commits: str) -> deliveries.Delivery:
    """A delivery as a worker makes it, with whatever end and commits."""
    objects = pack(order.repo, commits, [order.pinned]) if commits else b""
    return deliveries.Delivery(1, "w", "1", end_document(end), shelf.put(objects), shelf.put(archive({})))


def ended(order: LaunchOrder, commit: str) -> SessionEnd:
    work = Work(commit, git.tree_of(order.repo, commit), False, ())
    return replace(interrupted_end(order), kind=EndKind.ENDED, work=work)


def commit_on(order: LaunchOrder, *parents: str, tree: str = "") -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return sh(order.repo, "git", "commit-tree", "-m", "work", *words, tree or f"{order.pinned}^{{tree}}")


def refused(order: LaunchOrder, shelf: Shelf, delivery: deliveries.Delivery, said: str) -> None:
    """It is refused, and no reference moves."""
    before = sh(order.repo, "git", "for-each-ref")
    with pytest.raises(Unusable, match=said):
        deliveries.taken(delivery, order, None, shelf.get)
    assert sh(order.repo, "git", "for-each-ref") == before


def test_work_on_two_parents_or_above_another_commit_is_refused(order: LaunchOrder, shelf: Shelf) -> None:
    side = commit_on(order)
    merged = commit_on(order, order.pinned, side)
    second = commit_on(order, commit_on(order, order.pinned))
    for commit in (merged, second):
        refused(order, shelf, handed(order, shelf, ended(order, commit), commit), "does not stand on")


def test_work_of_who_only_reads_and_of_an_end_without_work_is_refused(order: LaunchOrder, shelf: Shelf) -> None:
    commit = commit_on(order, order.pinned)
    for archetype in (Archetype.VERIFIER, Archetype.REVIEWER):
        reading = replace(order, archetype=archetype)
        refused(reading, shelf, handed(order, shelf, ended(order, commit), commit), "nobody may hand in work")
    failed = replace(ended(order, commit), kind=EndKind.FAILED)
    refused(order, shelf, handed(order, shelf, failed, commit), "nobody may hand in work")


def test_what_is_kept_of_work_stands_on_the_commit_that_the_session_began_with(
    order: LaunchOrder, shelf: Shelf
) -> None:
    """Else what somebody has in another branch would be shown to the next session, or worked on."""
    private = commit_on(order)
    sh(order.repo, "git", "update-ref", "refs/heads/private", private)
    delivery = handed(order, shelf, interrupted_end(order))
    assert isinstance(delivery.end, dict)
    named: Any = {"kept": {"commit": private, "left_out": []}, "trace": {"commit": private}}
    for name, value in named.items():
        refused(order, shelf, replace(delivery, end=delivery.end | {name: value}), "does not stand on")
    sh(order.repo, "git", "update-ref", "-d", "refs/heads/private")


@pytest.mark.parametrize("name", [".git", ".GIT", "git~1", ".git\u200c"])
def test_a_tree_with_gits_own_folder_in_it_is_refused(order: LaunchOrder, shelf: Shelf, name: str) -> None:
    blob = sh(
        order.repo, "git", "hash-object", "-w", "README.md" if (order.repo / "README.md").exists() else ".git/HEAD"
    )
    inner = git.call(order.repo, "mktree", data=f"100644 blob {blob}\tconfig\n".encode()).text
    tree = git.call(order.repo, "mktree", data=f"040000 tree {inner}\t{name}\n".encode()).text
    commit = commit_on(order, order.pinned, tree=tree)
    refused(order, shelf, handed(order, shelf, ended(order, commit), commit), "cut off or broken")


def test_a_submodule_whose_address_is_a_command_is_refused(order: LaunchOrder, shelf: Shelf) -> None:
    text = b'[submodule "x"]\n\tpath = x\n\turl = -u./payload\n'
    blob = git.call(order.repo, "hash-object", "-w", "--stdin", data=text).text
    tree = git.call(order.repo, "mktree", data=f"100644 blob {blob}\t.gitmodules\n".encode()).text
    commit = commit_on(order, order.pinned, tree=tree)
    refused(order, shelf, handed(order, shelf, ended(order, commit), commit), "cut off or broken")


def with_end(delivery: deliveries.Delivery, member: str, value: str | float) -> deliveries.Delivery:
    assert isinstance(delivery.end, dict)
    return replace(delivery, end=delivery.end | {member: value})


CHANGES: dict[str, Change] = {
    "the end": lambda it: with_end(it, "output", "PASS"),
    "what it cost": lambda it: with_end(it, "cost_usd", 0.0),
    "the objects": lambda it: replace(it, objects=replace(it.objects, sha256="1" * 64)),
    "the files": lambda it: replace(it, files=replace(it.files, sha256="1" * 64)),
    "the number": lambda it: replace(it, number=2),
    "the version": lambda it: replace(it, version="2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_after_it_was_signed_is_not_taken(
    order: LaunchOrder, shelf: Shelf, worker: tuple[Ed25519PrivateKey, PublicKey], what: str
) -> None:
    key, public = worker
    bare = handed(order, shelf, interrupted_end(order))
    signed = replace(bare, signed=workers.signed(deliveries.statement_of(bare, order, order.launch), key))
    trusted = (Signer("farm", (keys.WORKERS,), public),)
    assert deliveries.signer_of(signed, order, trusted) == "farm"
    with pytest.raises(deliveries.Untrusted, match="something else"):
        deliveries.signer_of(CHANGES[what](signed), order, trusted)


@pytest.mark.parametrize("member", ["node_id", "attempt", "reading", "pinned", "launch"])
def test_a_signature_for_another_ticket_is_not_taken(
    order: LaunchOrder, shelf: Shelf, worker: tuple[Ed25519PrivateKey, PublicKey], member: str
) -> None:
    key, public = worker
    bare = handed(order, shelf, interrupted_end(order))
    signed = replace(bare, signed=workers.signed(deliveries.statement_of(bare, order, order.launch), key))
    other: Any = 7 if member in ("attempt", "reading") else "0" * 40
    with pytest.raises(deliveries.Untrusted, match="something else"):
        deliveries.signer_of(signed, replace(order, **{member: other}), (Signer("farm", (keys.WORKERS,), public),))


def test_a_key_for_another_role_or_one_that_is_trusted_no_more_signs_nothing(
    order: LaunchOrder, shelf: Shelf, worker: tuple[Ed25519PrivateKey, PublicKey]
) -> None:
    key, public = worker
    bare = handed(order, shelf, interrupted_end(order))
    signed = replace(bare, signed=workers.signed(deliveries.statement_of(bare, order, order.launch), key))
    for trusted in ((), (Signer("farm", (keys.LEDGER,), public),)):
        with pytest.raises(deliveries.Untrusted, match="do not trust"):
            deliveries.signer_of(signed, order, trusted)


def test_a_signature_that_is_spelled_in_another_way_is_none(
    order: LaunchOrder, shelf: Shelf, worker: tuple[Ed25519PrivateKey, PublicKey]
) -> None:
    key, public = worker
    bare = handed(order, shelf, interrupted_end(order))
    statement = deliveries.statement_of(bare, order, order.launch)
    loose = json.dumps({**json.loads(statement.payload), "attempt": float(statement.attempt)})
    for payload in (
        loose,
        json.dumps(json.loads(statement.payload)),
        '{"launch": "x", "launch": "y"}',
        "[]",
        "[" * 9999,
    ):
        envelope = dsse.sign(workers.PAYLOAD_TYPE, payload.encode(), key).to_json()
        with pytest.raises(deliveries.Untrusted, match="nobody can read"):
            deliveries.signer_of(replace(bare, signed=envelope), order, (Signer("farm", (keys.WORKERS,), public),))
    wrong = dsse.sign("application/vnd.agent-fox.waiver+json", statement.payload, key).to_json()
    with pytest.raises(deliveries.Untrusted, match="nobody can read"):
        deliveries.signer_of(replace(bare, signed=wrong), order, (Signer("farm", (keys.WORKERS,), public),))


NUMBERS = [
    ("cost_usd", -100.0), ("cost_usd", math.nan), ("cost_usd", math.inf), ("cost_usd", 1e12),
    ("input_tokens", -1), ("output_tokens", 10**30), ("seconds", -5.0), ("seconds", math.nan), ("seconds", 1e300),
    ("retry_after", -1.0), ("retry_after", math.inf), ("retry_after", 1e300),
]  # fmt: skip


@pytest.mark.parametrize(("member", "value"), NUMBERS)
def test_a_number_that_no_session_has_is_refused(order: LaunchOrder, member: str, value: float) -> None:
    """A cost below zero would give a budget back, one that is no number would switch a ceiling off."""
    document = {**end_document(interrupted_end(order)), member: value}
    with pytest.raises(UnreadableDocument, match=member):
        read_end(document)


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as file:
        for info, data in members:
            file.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_an_archive_with_anything_but_files_is_refused(tmp_path: Path, kind: bytes) -> None:
    data = tar((entry("logs/a", kind, "/etc/passwd"), b""), (entry("logs/a"), b""))
    with pytest.raises(Unusable, match="which no worker sends"):
        extract(data, {"logs": tmp_path / "logs"})


@pytest.mark.parametrize("name", ["logs/..", "logs/./../../x", "//logs/x", "\\..\\x", "logs\x00/x", "other/x", "./x"])
def test_an_archive_with_an_odd_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unusable):
        extract(tar((entry(name), b"")), {"logs": tmp_path / "logs"})
    assert list(tmp_path.rglob("*")) == [] or [path.name for path in tmp_path.rglob("*")] == ["logs"]


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "LARGEST_ARCHIVE", 1000)
    bomb = tar((entry("logs/a", size=600), b"x" * 600), (entry("logs/b", size=600), b"x" * 600))
    with pytest.raises(Unusable, match="which no worker sends"):
        extract(bomb, {"logs": tmp_path / "logs"})
    assert not (tmp_path / "logs" / "b").exists()


def test_an_archive_of_countless_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "MOST_FILES", 100)
    with pytest.raises(Unusable, match="more than 100 files"):
        extract(tar(*((entry(f"logs/{n}"), b"") for n in range(200))), {"logs": tmp_path / "logs"})


def test_a_file_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="twice"):
        extract(tar((entry("logs/a"), b""), (entry("logs/a"), b"")), {"logs": tmp_path / "logs"})


class Server(Connection):
    """An engine that answers with the same part for ever."""

    asked = 0

    async def part_at(self, id: str) -> bytes:
        self.asked += 1
        return b"x" * 1000


def server() -> Server:
    return Server(engine_of("temporal://127.0.0.1", ClusterSettings(), {}))


@pytest.mark.parametrize(("size", "parts"), [(10, 10**9), (10**18, 10**9), (2000, 2), (-1, 1), (0, -1)])
def test_bytes_without_an_end_are_not_asked_for(size: int, parts: int) -> None:
    own = server()
    with pytest.raises((PartMissing, Unusable)):
        own.get(Content("0" * 64, size, parts))
    assert own.asked <= 2


def test_a_part_that_is_another_is_not_taken() -> None:
    with pytest.raises(PartMissing, match="or others"):
        server().get(Content(hashlib.sha256(b"y").hexdigest(), 1000, 1))


def test_more_than_the_largest_content_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST", 500)
    own = server()
    with pytest.raises(Unusable, match="at most 500"):
        own.get(Content("0" * 64, 1000, 1))
    assert own.asked == 0


@pytest.mark.parametrize("read", [read_handed, read_delivery, read_envelope, read_parcel])
@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"NaN", b"{", b"\xff", b"[" * 100_000, b'{"number": 1e999}'])
def test_a_message_that_is_none_is_refused(read: Callable[[bytes], object], data: bytes) -> None:
    with pytest.raises(Unusable, match="not an"):
        read(data)


@pytest.mark.parametrize("name", ["w\n[31mFORGED", "w\x1b]8;;http://evil.example\x07", "w\u202e", "w" * 10_000, ""])
def test_a_worker_whose_name_steers_a_terminal_is_refused(order: LaunchOrder, shelf: Shelf, name: str) -> None:
    with pytest.raises(Unusable, match="name"):
        read_handed(written(Handed(1, name, refused="no")))
    for member in ("worker", "host", "version"):
        if name or member != "host":
            more: Any = {member: name}
            delivery = replace(handed(order, shelf, interrupted_end(order)), **more)
            with pytest.raises(Unusable, match="name"):
                read_delivery(written(delivery))


def test_what_a_worker_says_when_it_refuses_is_one_line_of_bounded_length(order: LaunchOrder) -> None:
    runner = TemporalRunner(engine_of("temporal://127.0.0.1", ClusterSettings(), {}), "1", 1.0, {})
    said = read_handed(written(Handed(1, "w", refused="\x1b[2Jno\nPROVEN\n" + "x" * 10**6)))
    end = runner.accepted(runner.job(order), said)
    assert end.kind is EndKind.INFRASTRUCTURE
    assert len(end.reason) < 1000
    assert end.reason.isprintable()


def test_a_delivery_under_another_number_is_not_taken(order: LaunchOrder, shelf: Shelf) -> None:
    runner = TemporalRunner(engine_of("temporal://127.0.0.1", ClusterSettings(), {}), "1", 1.0, {})
    runner.connection.get = shelf.get  # type: ignore[method-assign]
    content = shelf.put(written(handed(order, shelf, interrupted_end(order))))
    with pytest.raises(Unusable, match="handed in delivery 1 as 3"):
        runner.accepted(runner.job(order), Handed(3, "w", content))


def test_a_delivery_that_is_not_signed_is_not_taken_off_this_machine(order: LaunchOrder, shelf: Shelf) -> None:
    engine = engine_of("temporal://far.example", ClusterSettings(), {})
    runner = TemporalRunner(engine, "1", 1.0, {"AGENT_FOX_KEYS": "/nonexistent"})
    runner.connection.get = shelf.get  # type: ignore[method-assign]
    content = shelf.put(written(handed(order, shelf, interrupted_end(order))))
    with pytest.raises(deliveries.Untrusted, match="signed by nobody"):
        runner.accepted(runner.job(order), Handed(1, "w", content))


def test_what_doctor_says_of_workers_steers_no_terminal() -> None:
    said = said_of_workers("coder", ("agent-fox/9.9 \x1b[2J\nengine ok",))
    assert said.what.isprintable()


# An order is a stranger's too, at a worker whose engine is in other hands.


def parcel_of(order: LaunchOrder, shelf: Shelf) -> Parcel:
    base = shelf.put(pack(order.repo, [order.pinned]))
    return read_parcel(written(parcels.made(order, "1", shelf.put, lambda head: base, {})))


def opened(parcel: Parcel, shelf: Shelf, folder: Path) -> LaunchOrder:
    return parcels.opened(parcel, Bench(folder / "launches" / "x.d1", folder / "histories"), 1, shelf.get)


def test_a_history_named_by_a_path_opens_no_folder_of_the_worker(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "id_rsa").write_text("secret")
    parcel = parcel_of(order, shelf)
    for name in ("../keys", str(tmp_path / "keys"), "..", ""):
        with pytest.raises(Unusable, match="digest"):
            opened(replace(parcel, base=replace(parcel.base, sha256=name)), shelf, tmp_path / f"w{len(name)}")
    assert not list(tmp_path.glob("w*/launches/**/id_rsa"))


@pytest.mark.parametrize(
    "name",
    [
        "git/config", "git/hooks/post-checkout", "git/info/attributes", "git/objects/info/alternates",
        "repo/.git/config", "repo/x/.git/config", "repo/.GIT/config", "own/other", "repo/src/app.py",
    ],
)  # fmt: skip
def test_an_order_plants_nothing_in_gits_folder_or_beside_it(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path, name: str
) -> None:
    parcel = replace(parcel_of(order, shelf), files=shelf.put(tar((entry(name, size=1), b"x"))))
    with pytest.raises(Unusable, match="which no run sends"):
        opened(parcel, shelf, tmp_path / "w")


@pytest.mark.parametrize("form", ["sha1\n[core]\n\tsshCommand = touch x", "", "md5"])
def test_an_object_format_that_is_none_is_refused(order: LaunchOrder, shelf: Shelf, tmp_path: Path, form: str) -> None:
    with pytest.raises(Unusable, match="format"):
        opened(replace(parcel_of(order, shelf), object_format=form), shelf, tmp_path / "w")


@pytest.mark.parametrize("head", ["--upload-pack=x", "HEAD", "refs/heads/main", "-h", "main:src", "@{-1}"])
def test_a_commit_that_is_no_id_is_refused(order: LaunchOrder, shelf: Shelf, tmp_path: Path, head: str) -> None:
    with pytest.raises(Unusable):
        opened(replace(parcel_of(order, shelf), head=head), shelf, tmp_path / "w")


@pytest.mark.parametrize(
    "host", ["-oProxyCommand=touch x", "", "a b", "a;b", "$(x)", "a\nb", "ada@-x", "x:22x", "[::1]"]
)
def test_a_host_over_ssh_that_is_an_option_or_a_command_is_refused(host: str) -> None:
    with pytest.raises(NoAddress):
        split(host)


@pytest.mark.parametrize("line", [b"[" * 100_000, b"\xff\xfe", b"\x00" * 100, b'"hello"', b"NaN", b"{" * 100_000])
def test_a_line_over_ssh_that_says_nothing_is_nothing(line: bytes) -> None:
    assert said_in(line) == {}


def test_a_pack_that_unpacks_to_what_nobody_asked_for_moves_no_reference(order: LaunchOrder, shelf: Shelf) -> None:
    more = commit_on(order)
    work = commit_on(order, order.pinned)
    before = sh(order.repo, "git", "for-each-ref", "--format=%(refname)").splitlines()
    deliveries.taken(handed(order, shelf, ended(order, work), work, more), order, None, shelf.get)
    after = sh(order.repo, "git", "for-each-ref", "--format=%(refname)").splitlines()
    assert set(after) - set(before) == {f"refs/agent-fox/launches/{order.launch}"}
    sh(order.repo, "git", "update-ref", "-d", f"refs/agent-fox/launches/{order.launch}")


def test_a_pack_with_a_stream_that_inflates_beyond_its_size_is_refused(order: LaunchOrder) -> None:
    bomb = b"PACK\x00\x00\x00\x02\x00\x00\x00\x01" + b"\x35" + zlib.compress(b"\x00" * 10**7)
    with pytest.raises(Unusable, match="cut off or broken"):
        packs.unpack(order.repo, bomb + hashlib.sha1(bomb).digest(), "it", strict=True)
