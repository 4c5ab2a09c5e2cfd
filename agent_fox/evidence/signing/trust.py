"""Whose waivers count: the signers that a person trusts, and where keys may lie. A repository cannot add trust."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agent_fox.evidence.signing import keys
from agent_fox.evidence.signing.keys import KeyTrouble, Signer

FOR_OTHERS_TO_WRITE = 0o022
LONGEST_CHAIN = 40


def signers(environ: Mapping[str, str], workplaces: Iterable[Path]) -> tuple[Signer, ...]:
    """The trusted signers; none where there is no list. `workplaces`: folders that agents work in.

    Raises KeyTrouble where the list cannot be believed: it lies in a workplace, or others may write it.
    """
    path = keys.folder(environ) / keys.SIGNERS
    if not os.path.lexists(path):
        return ()
    refuse_workplace(path, workplaces)
    for place in (path, path.parent):
        state = place.stat()
        if state.st_mode & FOR_OTHERS_TO_WRITE or state.st_uid not in {0, os.getuid()}:
            raise KeyTrouble(
                f"{place}: others may write it, so nobody in it is trusted; `chmod go-w` it, and own it yourself"
            )
    return keys.read_signers(path)


def refuse_workplace(path: Path, workplaces: Iterable[Path]) -> None:
    """Raises KeyTrouble for a file that lies where agents work, or that a link there leads to."""
    places = [place.resolve() for place in workplaces]
    for hop in (path.resolve(), *_hops(Path(os.path.normpath(Path.cwd() / path)))):
        inside = next((place for place in places if hop.is_relative_to(place)), None)
        if inside is not None:
            raise KeyTrouble(
                f"{path}: lies in {inside}, where agents work; keep keys and trusted signers outside of it"
            )


def _hops(path: Path, left: int = LONGEST_CHAIN) -> Iterator[Path]:
    """Every place that a path leads through, link by link."""
    yield path
    link = next((folder for folder in (*reversed(path.parents), path) if folder.is_symlink()), None)
    if link is not None and left:
        target = Path(os.path.normpath(link.parent / link.readlink()))
        yield from _hops(target / path.relative_to(link), left - 1)
