"""What watching the source costs around a command, beside listing the same files without a look at what they hold."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from agent_fox.verifier.source.files import CLOCK_GRAIN
from agent_fox.verifier.source.scope import SourceScope
from agent_fox.verifier.source.watch import changed, digest, read_tree
from bench.checkout import make_repository
from bench.figures import Aim, Figure, best
from bench.worlds import temporary_folder

AIM = Aim(limit=0.150)
ROUNDS = 5
SCOPE = SourceScope(exclude=("target/", "build/", "node_modules/", "**/__pycache__/**", "*.pyc"))


def measure(files: int) -> Iterator[Figure]:
    """One read is what a command costs in a row of commands, where the end of one is the start of the next; two reads
    are what a single command costs. The first read ever also hashes everything."""
    with temporary_folder() as folder:
        root = make_repository(folder / "repo", files)
        time.sleep(2 * CLOCK_GRAIN / 1e9)
        known = read_tree(root, SCOPE)
        one, two, cold, full, floor = best(
            ROUNDS,
            lambda: changed(known, read_tree(root, SCOPE, known)),
            lambda: changed(read_tree(root, SCOPE, known), read_tree(root, SCOPE, known)),
            lambda: read_tree(root, SCOPE),
            lambda: digest(root, SCOPE),
            lambda: listed(root),
        )
    yield Figure(f"watching {files:,} files, one read a command", one, floor, "scandir and lstat", AIM)
    yield Figure(f"watching {files:,} files, before and after", two, 2 * floor, "the same twice", AIM)
    yield Figure(f"the first read of {files:,} files", cold, floor, "scandir and lstat")
    yield Figure(f"the digest of {files:,} files", full, floor, "scandir and lstat")


def listed(folder: Path | str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                listed(entry.path)
            else:
                entry.stat(follow_symlinks=False)
