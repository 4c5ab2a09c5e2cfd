"""What is kept beside a result: masked, whole, found by its address, and never for longer or larger than was said."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.artifacts.retention import prune
from agent_fox.verifier.artifacts.store import ArtifactStore
from agent_fox.verifier.ground.results import Artifact, ArtifactKind

SECRET = "s3cr/t+VALUE&<9>"
DAY = 86_400


def store(folder: Path, run: str = "run-1", attempt: int = 1, **more: int) -> ArtifactStore:
    return ArtifactStore(folder / "artifacts", run, attempt, (SECRET,), **more)


def text_of(where: ArtifactStore, artifact: Artifact) -> str:
    with where.open(artifact.uri) as file:
        return file.read().decode()


def test_a_log_is_masked_while_it_is_written_wherever_its_pieces_are_cut(tmp_path: Path) -> None:
    where = store(tmp_path)
    whole = f"building\nusing {SECRET} now\npassword=hunter2hunter2\ndone\n".encode()
    kept = []
    for cut in range(1, len(whole)):
        with where.log("build.log") as log:
            log.write(whole[:cut])
            assert SECRET.encode() not in b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
            log.write(whole[cut:])
        kept.append(text_of(where, log.artifact))
    assert set(kept) == {"building\nusing [redacted] now\npassword=[redacted]\ndone\n"}


def test_an_artifact_tells_name_size_hash_and_address_and_no_local_path(tmp_path: Path) -> None:
    where = store(tmp_path, "run 1/x", 3)
    artifact = where.keep_text("whole\n", ArtifactKind.REPORT, "../../etc/pass wd.txt")
    assert (artifact.kind, artifact.bytes) == (ArtifactKind.REPORT, 6)
    assert artifact.sha256 == hashlib.sha256(b"whole\n").hexdigest()
    assert str(tmp_path) not in repr(artifact)
    assert artifact.uri.startswith("artifact://run_1_x-")
    assert artifact.uri.endswith(f"/3/{artifact.name}")
    assert "/" not in artifact.name
    assert text_of(store(tmp_path, "another"), artifact) == "whole\n"


def test_names_that_differ_and_names_given_twice_stay_apart(tmp_path: Path) -> None:
    where = store(tmp_path)
    names = ["a b.xml", "a_b.xml", "a_b.xml", "", ".", "..", "é.xml", "x" * 500]
    kept = [where.keep_text(name, ArtifactKind.JUNIT_XML, name) for name in names]
    assert len({artifact.uri for artifact in kept}) == len(names)
    assert [text_of(where, artifact) for artifact in kept] == names
    assert where.listed() == tuple(kept)


def test_the_log_of_a_command_that_broke_off_is_kept(tmp_path: Path) -> None:
    where = store(tmp_path)
    with contextlib.suppress(KeyboardInterrupt), where.log("build.log") as log:
        log.write(b"half a li")
        raise KeyboardInterrupt
    assert text_of(where, log.artifact) == "half a li"


def test_reports_stay_readable_to_programs(tmp_path: Path) -> None:
    where = store(tmp_path)
    text = (
        f'password=abcdef12 "token": "q8w7e6r5t4" https://u:pa55word@h/x {SECRET} -----BEGIN PRIVATE KEY-----\nMIIE\n'
    )
    tree = ElementTree.Element("testsuite", {"name": text})
    ElementTree.SubElement(tree, "system-out").text = text
    (tmp_path / "a.xml").write_bytes(ElementTree.tostring(tree))
    (tmp_path / "a.json").write_text(json.dumps({"log": text, "password": "x8x8x8x8", "list": [text, 1]}))
    xml = text_of(where, where.keep_file(tmp_path / "a.xml", ArtifactKind.JUNIT_XML, "a.xml"))
    document = text_of(where, where.keep_file(tmp_path / "a.json", ArtifactKind.REPORT, "a.json"))
    assert ElementTree.fromstring(xml).find("system-out") is not None
    assert json.loads(document)["list"][1] == 1
    for secret in ("abcdef12", "q8w7e6r5t4", "pa55word", "s3cr", "x8x8x8x8"):
        assert secret not in xml + document


def test_links_pipes_archives_and_what_is_not_there_are_named_and_not_read(tmp_path: Path) -> None:
    where = store(tmp_path)
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    with zipfile.ZipFile(tmp_path / "trace.zip", "w") as archive:
        archive.writestr("log", SECRET)
    for name in ("link", "pipe", "trace.zip", "nowhere", "."):
        kept = where.keep_file(tmp_path / name, ArtifactKind.REPORT, f"x{name}")
        assert "[agent-fox: not kept: " in text_of(where, kept)
        assert "root:" not in text_of(where, kept)
        assert str(tmp_path) not in text_of(where, kept)


def test_a_binary_file_is_kept_as_it_is_unless_a_secret_is_in_it(tmp_path: Path) -> None:
    where = store(tmp_path)
    clean, leaky = bytes(range(256)) * 20, bytes(5000) + SECRET.encode() + bytes(9)
    (tmp_path / ".coverage").write_bytes(clean)
    (tmp_path / "jacoco.exec").write_bytes(leaky)
    kept = where.keep_file(tmp_path / ".coverage", ArtifactKind.COVERAGE, "coverage.db")
    refused = where.keep_file(tmp_path / "jacoco.exec", ArtifactKind.COVERAGE, "jacoco.exec")
    assert where.path_of(kept.uri).read_bytes() == clean
    assert not kept.is_secret_suspected
    assert refused.is_secret_suspected
    assert SECRET.encode() not in where.path_of(refused.uri).read_bytes()


def test_an_attempt_keeps_no_more_than_it_may_and_says_what_is_missing(tmp_path: Path) -> None:
    where = store(tmp_path, most_bytes=1000)
    with where.log("big.log") as log:
        for _ in range(100):
            log.write(b"a line of thirty letters or so\n" * 100)
    (tmp_path / "report.xml").write_text("x" * 900)
    second = where.keep_file(tmp_path / "report.xml", ArtifactKind.JUNIT_XML, "report.xml")
    assert len(text_of(where, log.artifact)) < 1100
    assert "the other 309000 bytes are over what one attempt may keep" in text_of(where, log.artifact)
    assert "over what one attempt may keep" in text_of(where, second)


def test_the_same_content_is_stored_once(tmp_path: Path) -> None:
    for attempt in (1, 2, 3):
        store(tmp_path, attempt=attempt).keep_text("x" * 5000, ArtifactKind.LOG, "same.log")
    assert len(list((tmp_path / "artifacts/content").glob("*/*"))) == 1


LEAKS = (
    "pushing with hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZabcdefgh",
    "the key is now Zx81Kq0aPl33mVb9TtR2wQ",
    "bearer: Zx81Kq0aPl33+mVb9TtR2wQ==",
)
HARMLESS = (
    "key 3f2a9c1d0b7e6a5f4c3b2a1908f7e6d5c4b3a291",
    "token of session 123e4567-e89b-12d3-a456-426614174000",
    '"tokens": {"integrity": "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbz=="}',
    "the keys com.acme.auth.TokenServiceIntegrationTest passed",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 30,
    "cache key: Linux-node-modules-package-lock-json-v2-main",
)


@pytest.mark.parametrize("text", LEAKS)
def test_what_slipped_through_the_masks_is_suspected(tmp_path: Path, text: str) -> None:
    assert store(tmp_path).keep_text(f"a line\n{text}\n", ArtifactKind.LOG, "a.log").is_secret_suspected


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_ids_images_and_lock_files_are_not_suspected(tmp_path: Path, text: str) -> None:
    assert not store(tmp_path).keep_text(f"a line\n{text}\n", ArtifactKind.LOG, "a.log").is_secret_suspected


@pytest.mark.parametrize(
    "uri", ["artifact://run-1/1/nothing.log", "artifact://../1/x", "artifact://run-1/1/../x", "file:///etc/passwd", ""]
)
def test_an_address_that_leads_nowhere_is_an_error_that_shows_no_path(tmp_path: Path, uri: str) -> None:
    where = store(tmp_path)
    where.keep_text("x", ArtifactKind.LOG, "a.log")
    with pytest.raises(ArtifactError) as told:
        where.open(uri)
    assert str(tmp_path) not in str(told.value)


WRITER = """
import sys
from pathlib import Path
from agent_fox.verifier.artifacts.store import ArtifactStore
from agent_fox.verifier.ground.results import ArtifactKind
for number in range(40):
    ArtifactStore(Path(sys.argv[1]), "run", 1).keep_text(f"{sys.argv[2]} {number}", ArtifactKind.LOG, "same.log")
"""


def test_two_processes_that_keep_at_once_lose_nothing(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*argv, name]) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    where = ArtifactStore(tmp_path, "run", 1)
    assert {text_of(where, artifact) for artifact in where.listed()} == {
        f"{name} {number}" for name in ("one", "two") for number in range(40)
    }


KILLED = """
import os, signal, sys
from pathlib import Path
from agent_fox.verifier.artifacts.store import ArtifactStore
with ArtifactStore(Path(sys.argv[1]), "run", 1).log("a.log") as log:
    log.write(b"a line" * 100000 + bytes([10]))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_leaves_nothing_half_written_to_be_seen(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert ArtifactStore(tmp_path, "run", 1).listed() == ()
    assert len(list((tmp_path / "unfinished").iterdir())) == 1
    later = prune(tmp_path, 7, 10**9, now=tmp_path.stat().st_mtime + 2 * DAY)
    assert (later.attempts, later.bytes > 0) == ((), True)
    assert list((tmp_path / "unfinished").iterdir()) == []


def aged(where: ArtifactStore, days: float, size: int) -> Artifact:
    """An attempt that kept so many bytes so many days ago."""
    artifact = where.keep_text(f"{where.run}{where.attempt}".ljust(size, "."), ArtifactKind.LOG, "a.log")
    file = where.folder / "runs" / where.run / f"{where.attempt}.json"
    long_ago = file.stat().st_mtime - days * DAY
    os.utime(file, (long_ago, long_ago))
    return artifact


def test_old_attempts_go_and_the_newest_of_each_run_stays(tmp_path: Path) -> None:
    old = [aged(store(tmp_path, run, attempt), 30, 100) for run in ("a", "b") for attempt in (1, 2)]
    recent = aged(store(tmp_path, "a", 10), 1, 100)
    done = prune(tmp_path / "artifacts", 14, 10**9)
    assert (done.attempts, done.bytes, done.bytes_kept) == (("a/1", "a/2", "b/1"), 300, 200)
    where = store(tmp_path)
    for artifact in (recent, old[3]):
        assert text_of(where, artifact)
    for artifact in old[:3]:
        with pytest.raises(ArtifactError):
            where.open(artifact.uri)
    assert prune(tmp_path / "artifacts", 14, 10**9, run_days=20).attempts == ("b/2",)


def test_too_much_makes_the_oldest_attempts_go_until_it_is_enough(tmp_path: Path) -> None:
    for attempt in range(1, 6):
        aged(store(tmp_path, "a", attempt), 6 - attempt, 1000)
    assert prune(tmp_path / "artifacts", 14, 3000).attempts == ("a/1", "a/2")
    assert prune(tmp_path / "artifacts", 14, 10).attempts == ("a/3", "a/4")
    assert prune(tmp_path / "artifacts", 14, 10).bytes_kept == 1000


def test_content_that_a_kept_attempt_shares_with_a_removed_one_stays(tmp_path: Path) -> None:
    for attempt in (1, 2):
        artifact = store(tmp_path, "a", attempt).keep_text("same", ArtifactKind.LOG, "a.log")
    assert prune(tmp_path / "artifacts", 0, 0, now=10**10).attempts == ("a/1",)
    assert text_of(store(tmp_path), artifact) == "same"


def test_an_index_that_is_broken_is_said_so_and_nothing_is_removed(tmp_path: Path) -> None:
    where = store(tmp_path, "a")
    where.keep_text("x", ArtifactKind.LOG, "a.log")
    (tmp_path / "artifacts/runs/a/1.json").write_text("{")
    with pytest.raises(ArtifactError):
        where.listed()
    with pytest.raises(ArtifactError):
        prune(tmp_path / "artifacts", 0, 0)
    assert len(list((tmp_path / "artifacts/content").glob("*/*"))) == 1


def test_whole_runs_go_for_want_of_room_where_runs_may_go_but_never_the_last(tmp_path: Path) -> None:
    for number in range(1, 4):
        store = ArtifactStore(tmp_path / "artifacts", f"run-{number}", 1)
        store.keep_text(f"{number}" * 1000, ArtifactKind.LOG, "log")
        os.utime(tmp_path / "artifacts" / "runs" / f"run-{number}" / "1.json", (number * DAY, number * DAY))
    now = 4 * DAY
    assert prune(tmp_path / "artifacts", 30, 1500, now=now).attempts == ()
    assert prune(tmp_path / "artifacts", 30, 1500, run_days=30, now=now).attempts == ("run-1/1", "run-2/1")
    assert prune(tmp_path / "artifacts", 30, 1, run_days=30, now=now).attempts == ()
