"""What may have become of a kept layer, and of the folder that one is made from: taken whole and as it was, or not."""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.verifier.running.build_caches import FILES, MANIFEST, MOST_LAYERS, Layers, key_of

KEY, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path / "caches/_runs")


def filled(tmp_path: Path, text: str = "compiled") -> Path:
    """What a filling command left."""
    folder = tmp_path / f"filled-{text}"
    (folder / "00").mkdir(parents=True)
    (folder / "00/object-d").write_text(text)
    (folder / "README").write_text("a cache")
    return folder


def seen(layers: Layers, tmp_path: Path, key: str = KEY) -> dict[str, str] | None:
    """What a reading is given for this key."""
    target = tmp_path / f"copy-{os.urandom(4).hex()}"
    if not layers.take(key, target):
        assert not target.exists()
        return None
    return {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}


WHOLE = {"00/object-d": "compiled", "README": "a cache"}


def test_what_was_kept_is_taken_as_it_was_by_its_key_alone(layers: Layers, tmp_path: Path) -> None:
    assert seen(layers, tmp_path) is None
    assert layers.keep(KEY, filled(tmp_path))
    assert (seen(layers, tmp_path), seen(layers, tmp_path, OTHER)) == (WHOLE, None)


def test_a_copy_shares_no_file_with_the_layer(layers: Layers, tmp_path: Path) -> None:
    """Through a hard link a test would write into the layer; through the folder that it was made from, too."""
    source = filled(tmp_path)
    layers.keep(KEY, source)
    assert layers.take(KEY, tmp_path / "copy")
    for folder in (source, tmp_path / "copy"):
        (folder / "00/object-d").write_text("poison")
    assert seen(layers, tmp_path) == WHOLE


def _cut(layer: Path) -> None:
    (layer / FILES / "00/object-d").write_text("comp")


def _exchanged(layer: Path) -> None:
    (layer / FILES / "00/object-d").write_text("poisoned"[: len("compiled")])


def _gone(layer: Path) -> None:
    (layer / FILES / "README").unlink()


def _linked(layer: Path) -> None:
    place = layer / FILES / "README"
    place.rename(layer.parent.parent / "elsewhere")
    place.symlink_to(layer.parent.parent / "elsewhere")


def _folder_linked(layer: Path) -> None:
    (layer / FILES / "00").rename(layer.parent.parent / "elsewhere")
    (layer / FILES / "00").symlink_to(layer.parent.parent / "elsewhere")


def _layer_linked(layer: Path) -> None:
    layer.rename(layer.parent.parent / "elsewhere")
    layer.symlink_to(layer.parent.parent / "elsewhere")


def _pipe(layer: Path) -> None:
    (layer / FILES / "README").unlink()
    os.mkfifo(layer / FILES / "README")


def _no_manifest(layer: Path) -> None:
    (layer / MANIFEST).unlink()


def _empty_manifest(layer: Path) -> None:
    (layer / MANIFEST).write_bytes(b"")


def _manifest_of(*rows: object) -> Callable[[Path], None]:
    def change(layer: Path) -> None:
        (layer / MANIFEST).write_text(json.dumps({"files": rows}))

    return change


HARMS: dict[str, Callable[[Path], None]] = {
    "a file was cut short": _cut,
    "a file has other contents of the same size": _exchanged,
    "a file is gone": _gone,
    "a file became a link": _linked,
    "a folder became a link": _folder_linked,
    "the layer became a link": _layer_linked,
    "a file became a pipe": _pipe,
    "the manifest is gone": _no_manifest,
    "the manifest is empty": _empty_manifest,
    "the manifest names a file above the layer": _manifest_of(["../../../secret", 1, "0" * 64]),
    "the manifest names a file of the machine": _manifest_of(["/etc/hostname", 1, "0" * 64]),
    "the manifest holds no rows": _manifest_of(1, "two", None),
    "the manifest names a number": _manifest_of([1, 1, "0" * 64]),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_layer_that_is_not_as_it_was_kept_is_removed_and_not_taken(layers: Layers, tmp_path: Path, harm: str) -> None:
    layers.keep(KEY, filled(tmp_path))
    (layer,) = layers.folder.iterdir()
    HARMS[harm](layer)
    assert seen(layers, tmp_path) is None
    assert list(layers.folder.iterdir()) == []
    assert layers.keep(KEY, filled(tmp_path, "again"))
    assert seen(layers, tmp_path) == {**WHOLE, "00/object-d": "again"}


def test_a_file_that_no_manifest_names_is_not_taken(layers: Layers, tmp_path: Path) -> None:
    layers.keep(KEY, filled(tmp_path))
    (layer,) = layers.folder.iterdir()
    (layer / FILES / "00/planted-d").write_text("poison")
    assert seen(layers, tmp_path) == WHOLE


def test_links_pipes_and_sockets_of_a_filled_cache_are_not_kept(layers: Layers, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the person")
    source = filled(tmp_path)
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to(tmp_path)
    (source / "itself").symlink_to(source / "itself")
    os.mkfifo(source / "pipe")
    assert layers.keep(KEY, source)
    assert seen(layers, tmp_path) == WHOLE


def test_a_cache_that_is_a_link_itself_is_not_kept(layers: Layers, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(filled(tmp_path))
    assert not layers.keep(KEY, tmp_path / "link")
    assert seen(layers, tmp_path) is None


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a disk that is full: what is written beyond that is an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_on_a_full_disk_nothing_is_kept_and_what_was_kept_stays(layers: Layers, tmp_path: Path) -> None:
    layers.keep(OTHER, filled(tmp_path))
    large = filled(tmp_path, "large")
    (large / "00/large-d").write_bytes(b"x" * 200_000)
    with no_file_larger_than(100_000):
        assert not layers.keep(KEY, large)
    assert (seen(layers, tmp_path), seen(layers, tmp_path, OTHER)) == (None, WHOLE)
    assert len(list(layers.folder.iterdir())) == 1


def test_on_a_full_disk_nothing_is_taken_and_no_half_copy_stays(layers: Layers, tmp_path: Path) -> None:
    large = filled(tmp_path, "large")
    (large / "00/large-d").write_bytes(b"x" * 200_000)
    layers.keep(KEY, large)
    with no_file_larger_than(100_000):
        assert seen(layers, tmp_path) is None


def test_a_layer_that_was_half_made_when_its_process_was_killed_is_none_and_is_removed(
    layers: Layers, tmp_path: Path
) -> None:
    source = filled(tmp_path)
    for number in range(400):
        (source / f"00/{number}-d").write_text("x" * 1000)
    child = os.fork()
    if child == 0:
        layers.keep(KEY, source)
        os._exit(0)
    while not (layers.folder.is_dir() and any(layers.folder.iterdir())):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    taken = seen(layers, tmp_path)
    assert taken is None or len(taken) == 402
    assert layers.keep(OTHER, filled(tmp_path, "other"))
    assert {path.name for path in layers.folder.iterdir()} <= {KEY, OTHER}


def test_readings_that_make_and_take_one_layer_at_once_see_it_whole_or_not_at_all(
    layers: Layers, tmp_path: Path
) -> None:
    sources = [filled(tmp_path, f"from-{number}") for number in range(4)]
    answers: list[dict[str, str] | None] = []

    def reading(source: Path) -> None:
        for _ in range(10):
            layers.keep(KEY, source)
            answers.append(seen(layers, tmp_path))

    threads = [threading.Thread(target=reading, args=(source,)) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = [{**WHOLE, "00/object-d": f"from-{number}"} for number in range(4)]
    assert all(answer is None or answer in whole for answer in answers)
    assert seen(layers, tmp_path) in whole
    assert [path.name for path in layers.folder.iterdir()] == [KEY]


def test_no_more_than_so_many_are_kept_none_too_large_and_none_too_old(layers: Layers, tmp_path: Path) -> None:
    source = filled(tmp_path)
    keys = [f"{number:064x}" for number in range(MOST_LAYERS + 2)]
    for age, key in enumerate(reversed(keys)):
        layers.keep(key, source)
        os.utime(layers.folder / key, (2_000_000_000 + age, 2_000_000_000 + age))
    layers.keep(KEY, source)
    assert {path.name for path in layers.folder.iterdir()} == {KEY, *keys[: MOST_LAYERS - 1]}
    os.utime(layers.folder / KEY, (1, 1))
    assert seen(layers, tmp_path) is None
    with (source / "large").open("wb") as file:
        file.truncate(layers.largest + 1)
    assert not layers.keep(OTHER, source)


def test_a_key_changes_with_everything_that_it_is_made_of() -> None:
    parts = ("go", ("go", "test"), "/usr/bin/go 1 2", {"go.sum": b"a"}, "bubblewrap")
    keys = {
        key_of(*parts),
        key_of("go2", *parts[1:]),
        key_of("go", ("go", "test", "-race"), *parts[2:]),
        key_of(*parts[:2], "/usr/bin/go 1 3", *parts[3:]),
        key_of(*parts[:3], {"go.sum": b"b"}, parts[4]),
        key_of(*parts[:3], {"go.mod": b"a"}, parts[4]),
        key_of(*parts[:3], {}, parts[4]),
        key_of(*parts[:4], "none"),
    }
    assert len(keys) == 8
    assert all(len(key) == 64 for key in keys)


def test_a_key_that_is_none_leads_nowhere(layers: Layers, tmp_path: Path) -> None:
    for key in ("", ".", "..", "../..", "/etc", "a/b"):
        assert not layers.keep(key, filled(tmp_path, f"k{abs(hash(key))}"))
        assert not layers.take(key, tmp_path / "copy")


def test_where_the_folder_cannot_be_made_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in its place")
    layers = replace(Layers(tmp_path / "x"), folder=tmp_path / "file/caches")
    assert not layers.keep(KEY, filled(tmp_path))
    assert seen(layers, tmp_path) is None
