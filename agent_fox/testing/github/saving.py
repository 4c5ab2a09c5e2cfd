"""The fake's repositories as a file, so that a demonstration finds its issues again. Tokens and limits are not kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import count
from pathlib import Path

from pydantic import TypeAdapter

from agent_fox.system.files import replace_file
from agent_fox.testing.github.state import Account, Repository, World

_REPOSITORIES = TypeAdapter(list[Repository])


def save(world: World, file: Path) -> None:
    """Write the file whole. Raises OSError."""
    kept = [asdict(repository) | {"deleted": sorted(repository.deleted)} for repository in world.repositories.values()]
    replace_file(file, json.dumps(kept, indent=1), is_durable=False)


def load(world: World, file: Path) -> None:
    """Take over what a file holds in place of the repositories of the same name. Raises OSError, ValueError."""
    for repository in _REPOSITORIES.validate_json(file.read_bytes()):
        same = world.named(repository.full_name)
        if same is not None:
            del world.repositories[same.id]
        world.repositories[repository.id] = repository
        for account in _accounts(repository):
            world.accounts[account.login] = account
    world.ids = count(
        1 + max([next(world.ids), *(id for repository in world.repositories.values() for id in _ids(repository))])
    )


def _accounts(where: Repository) -> list[Account]:
    authors = [issue.author for issue in where.issues.values()]
    return authors + [comment.author for issue in where.issues.values() for comment in issue.comments]


def _ids(where: Repository) -> list[int]:
    issues = list(where.issues.values())
    comments = [comment.id for issue in issues for comment in issue.comments]
    others = [item.id for item in where.labels.values()] + [item.id for item in _accounts(where)]
    return [where.id, *(issue.id for issue in issues), *comments, *others]
