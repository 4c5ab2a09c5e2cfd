"""What leaves this machine, and what comes in: no key ever, no broken pack, no work on another commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.cluster import deliveries, parcels
from agent_fox.cluster.engine import engine_of
from agent_fox.cluster.messages import read_delivery, read_parcel, written
from agent_fox.cluster.packs import Content, Unusable, archive, extract, pack, unpack
from agent_fox.cluster.parcels import Bench, KeyInOrder, Parcel
from agent_fox.cluster.runner import TemporalRunner
from agent_fox.config import ClusterSettings
from agent_fox.core.ids import Archetype
from agent_fox.evidence.signing import keys, workers
from agent_fox.evidence.signing.keys import Signer, new_key
from agent_fox.session.endings import interrupted_end
from agent_fox.session.order import EndKind, LaunchOrder, StopSignal
from agent_fox.session.order_document import end_document
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system import git
from tests.session.world import make_order, make_repo, never_told, sh, shell

SECRET = "opensesame-opensesame"


class Shelf:
    """Contents by their digest, as an engine keeps them."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> Content:
        digest = hashlib.sha256(data).hexdigest()
        self.kept[digest] = data
        return Content(digest, len(data), 1)

    def get(self, content: Content) -> bytes:
        return self.kept[content.sha256]

    def everything(self) -> bytes:
        return b"".join(self.kept.values())


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    return make_order(make_repo(tmp_path / "repo"), agent=shell("echo two > src/app.py"))


def sent(order: LaunchOrder, shelf: Shelf, **environ: str) -> Parcel:
    base: Callable[[str], Content] = lambda head: shelf.put(pack(order.repo, [head]))  # noqa: E731 - as the runner has it
    return read_parcel(written(parcels.made(order, "1", shelf.put, base, environ)))


def opened(parcel: Parcel, shelf: Shelf, folder: Path, number: int = 1) -> tuple[LaunchOrder, Bench]:
    bench = Bench(folder / f"d{number}", folder / "lasting")
    return parcels.opened(parcel, bench, number, shelf.get), bench


def delivered(order: LaunchOrder, shelf: Shelf, folder: Path, number: int = 1) -> deliveries.Delivery:
    own, bench = opened(sent(order, shelf), shelf, folder, number)
    end = run_session(own, never_told, StopSignal())
    return read_delivery(written(deliveries.packed(end, own, bench, number, "w", "1", shelf.put)))


def test_a_worker_runs_the_order_in_a_repository_of_its_own_and_its_work_comes_home(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path
) -> None:
    delivery = delivered(order, shelf, tmp_path / "worker")
    end = deliveries.taken(delivery, order, None, shelf.get)
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert git.parents(order.repo, end.work.commit) == (order.pinned,)
    assert git.show(order.repo, end.work.commit, "src/app.py") == b"two\n"
    assert end.log == order.log
    assert order.log.is_file()
    assert sh(order.repo, "git", "show", "-s", "--format=%an", end.work.commit) == "Ada"


def test_the_history_is_unpacked_once_at_a_worker(order: LaunchOrder, shelf: Shelf, tmp_path: Path) -> None:
    parcel = sent(order, shelf)
    opened(parcel, shelf, tmp_path / "worker", 1)
    del shelf.kept[parcel.base.sha256]
    own, _ = opened(parcel, shelf, tmp_path / "worker", 2)
    assert git.commit_of(own.repo, order.pinned) == order.pinned


def test_no_key_is_sent_by_its_name_and_the_worker_takes_its_own(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path
) -> None:
    keyed = replace(order, agent=replace(order.agent, environment={"API_KEY": SECRET, "MODE": "fast"}))
    parcel = sent(keyed, shelf)
    assert parcel.left_out == ("API_KEY",)
    assert SECRET.encode() not in shelf.everything() + written(parcel)
    own, _ = opened(parcel, shelf, tmp_path / "worker")
    assert own.agent.environment == {"MODE": "fast"}
    assert "API_KEY" in own.agent.inherit


@pytest.mark.parametrize("where", ["brief_markdown", "message", "handoff"])
def test_an_order_that_holds_the_value_of_a_key_is_not_sent(order: LaunchOrder, shelf: Shelf, where: str) -> None:
    leak: dict[str, Any] = {where: f"use {SECRET} for it"}
    leaky = replace(order, **leak)
    with pytest.raises(KeyInOrder, match="MODEL_API_KEY"):
        sent(leaky, shelf, MODEL_API_KEY=SECRET)
    assert SECRET.encode() not in shelf.everything()


def test_hidden_checks_go_to_verifiers_only(order: LaunchOrder, shelf: Shelf, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "test_secret.py").write_text("assert 'nobody sees this'\n")
    document = {"hidden": str(hidden), "artifacts": str(tmp_path), "expected": {}}
    for archetype in Archetype:
        parcel = sent(replace(order, archetype=archetype, document=document), shelf)
        own, bench = opened(parcel, shelf, tmp_path / archetype.value)
        assert bench.hidden.is_dir() == (archetype is Archetype.VERIFIER)
        assert str(tmp_path / "hidden") not in json.dumps(own.document)


@pytest.mark.parametrize("part", ["base", "delta"])
def test_a_pack_that_was_cut_off_is_refused(order: LaunchOrder, shelf: Shelf, tmp_path: Path, part: str) -> None:
    sh(order.repo, "git", "commit", "--allow-empty", "-qm", "more")
    parcel = sent(replace(order, pinned=sh(order.repo, "git", "rev-parse", "HEAD")), shelf)
    content = getattr(parcel, part)
    shelf.kept[content.sha256] = shelf.kept[content.sha256][:-30]
    with pytest.raises(Unusable, match="cut off or broken"):
        opened(parcel, shelf, tmp_path / "worker")


def test_a_history_without_the_commit_is_refused(order: LaunchOrder, shelf: Shelf, tmp_path: Path) -> None:
    parcel = sent(order, shelf)
    other = replace(parcel, head="0" * 39 + "1")
    with pytest.raises(Unusable, match="is not in what was sent"):
        opened(other, shelf, tmp_path / "worker")


def test_work_on_another_commit_or_with_another_tree_is_refused(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path
) -> None:
    delivery = delivered(order, shelf, tmp_path / "worker")
    assert isinstance(delivery.end, dict)
    work = delivery.end["work"]
    assert isinstance(work, dict)
    lies = (
        (work | {"tree": "0" * 40}, "another tree"),
        (work | {"is_unchanged": True}, "does not stand on"),
        (work | {"commit": order.pinned}, "does not stand on"),
        (work | {"commit": "1" * 40}, "is not in it"),
    )
    before = sh(order.repo, "git", "for-each-ref")
    for lie, said in lies:
        with pytest.raises(Unusable, match=said):
            deliveries.taken(replace(delivery, end=delivery.end | {"work": lie}), order, None, shelf.get)
    assert sh(order.repo, "git", "for-each-ref") == before


def test_a_late_delivery_is_kept_and_stands_on_no_branch(order: LaunchOrder, shelf: Shelf, tmp_path: Path) -> None:
    delivery = delivered(order, shelf, tmp_path / "worker", 2)
    told = deliveries.keep_late(delivery, order, shelf.get)
    ref = f"refs/agent-fox/late/{order.launch}/d2"
    assert ref in told
    assert "never merged" in told
    assert git.commit_of(order.repo, ref) is not None
    assert sh(order.repo, "git", "for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"


@pytest.mark.parametrize("name", ["../out", "/etc/x", "logs/../../out", "logs"])
def test_an_archive_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unusable, match="which no worker sends"):
        extract(archive({name: tmp_path / "file"}), {"logs": tmp_path / "logs"})
    assert not (tmp_path / "out").exists()


def test_a_delivery_brings_its_own_log_and_no_others_and_puts_nothing_in_anothers_place(
    order: LaunchOrder, shelf: Shelf, tmp_path: Path
) -> None:
    delivery, kept = delivered(order, shelf, tmp_path / "worker"), tmp_path / "artifacts"
    (kept / "content").mkdir(parents=True)
    (kept / "content" / "a").write_text("ours")
    (tmp_path / "file").write_text("theirs")
    file = tmp_path / "file"
    names = {f"logs/{order.log.name}": file, "artifacts/content/a": file, "artifacts/content/b": file}
    deliveries.taken(replace(delivery, files=shelf.put(archive(names))), order, kept, shelf.get)
    assert [path.read_text() for path in sorted((kept / "content").iterdir())] == ["ours", "theirs"]
    assert order.log.read_text() == "theirs"
    for name in ("logs/other.log", f"logs/below/{order.log.name}"):
        with pytest.raises(Unusable, match="not the session's"):
            deliveries.taken(replace(delivery, files=shelf.put(archive({name: file}))), order, kept, shelf.get)


def test_an_archive_that_is_none_is_refused(tmp_path: Path) -> None:
    whole = archive({"logs/a": Path(__file__)})
    for data in (b"", b"garbage", whole[: len(whole) // 2]):
        with pytest.raises(Unusable):
            extract(data, {"logs": tmp_path})


def test_a_pack_that_is_none_is_refused(order: LaunchOrder) -> None:
    for data in (b"", b"garbage" * 10):
        with pytest.raises(Unusable):
            unpack(order.repo, data, "it")


def test_who_signed_counts_and_what_was_changed_afterwards_does_not(order: LaunchOrder, tmp_path: Path) -> None:
    public = new_key(tmp_path / "keys" / "worker.pem", None)
    own = keys.load_key(tmp_path / "keys" / "worker.pem", None)
    nothing = Content("0" * 64, 0)
    bare = deliveries.Delivery(1, "w", "1", end_document(interrupted_end(order)), nothing, nothing)
    signed = replace(bare, signed=workers.signed(deliveries.statement_of(bare, order, order.launch), own))
    trusted = (Signer("farm", (keys.WORKERS,), public),)
    assert deliveries.signer_of(signed, order, trusted) == "farm"
    assert deliveries.signer_of(bare, order, trusted) == ""
    others = {
        "do not trust": (signed, order, (Signer("farm", (keys.LEDGER,), public),)),
        "something else": (replace(signed, worker="another"), order, trusted),
        "something else  ": (replace(signed, host="another"), order, trusted),
        "something else ": (signed, replace(order, launch="another"), trusted),
        "nobody can read": (replace(signed, signed="{}"), order, trusted),
    }
    for said, (delivery, asked, signers) in others.items():
        with pytest.raises(deliveries.Untrusted, match=said.strip()):
            deliveries.signer_of(delivery, asked, signers)


def test_an_end_that_nobody_can_read_is_refused(order: LaunchOrder, shelf: Shelf) -> None:
    nothing = shelf.put(b"")
    with pytest.raises(Unusable, match="cannot be read"):
        deliveries.taken(deliveries.Delivery(1, "w", "1", {"kind": "proven"}, nothing, nothing), order, None, shelf.get)


def test_workers_of_one_class_that_are_not_alike_are_told_once(order: LaunchOrder) -> None:
    said: list[str] = []
    runner = TemporalRunner(engine_of("temporal://127.0.0.1", ClusterSettings(), {}), "1", 1.0, {}, tell=said.append)
    nothing = Content("0" * 64, 0)
    delivery = deliveries.Delivery(1, "w1", "1", {}, nothing, nothing, "linux x86_64, Python 3.11")
    for host in ("linux x86_64, Python 3.11", "linux aarch64, Python 3.11", "linux aarch64, Python 3.11"):
        runner.compare("verifier", replace(delivery, host=host))
    runner.compare("coder", replace(delivery, host="linux aarch64, Python 3.11"))
    (line,) = said
    assert line.startswith(
        "workers of 'verifier' differ: linux x86_64, Python 3.11, and linux aarch64, Python 3.11 (w1)"
    )
