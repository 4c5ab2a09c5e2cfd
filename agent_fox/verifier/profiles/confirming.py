"""The profile that a workspace is verified by: the built-in one, as far as a person allows, narrowed by the repository.

Whoever can write to the workspace can write its narrowing, so that it can only take away, and only once a person has
seen what.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox.system.toml_tables import Toml
    from agent_fox.verifier.profiles import narrowing as narrow
    from agent_fox.verifier.profiles.model import Profile
else:
    narrow = late_module("agent_fox.verifier.profiles.narrowing")

NARROWING = Path(".agent-fox") / "verifier.toml"
MOST_CHANGES = 10


class ProfileUnconfirmed(ValueError):
    """A repository changes the profile and that is not confirmed; or its file cannot be read."""


def confirmed_profile(built_in: Profile, root: Path, allowed: narrow.Allowed, accepted: str | None) -> Profile:
    """The profile to use. `accepted` is the fingerprint that a person has confirmed.

    Raises ProfileUnconfirmed, and Refused for a repository that asks for more than it is allowed.
    """
    policy = built_in.policy.model_copy(update={"allow_source_mutation": allowed.format_apply})
    own = narrow.narrowed(built_in.model_copy(update={"policy": policy}), {}, allowed)
    asked = narrow.narrowed(own, _asked_by(root), allowed)
    changes = narrow.difference(own, asked)
    if not changes or accepted == narrow.fingerprint(asked):
        return asked
    more = f"; and {len(changes) - MOST_CHANGES} more" if len(changes) > MOST_CHANGES else ""
    shown = "; ".join(changes[:MOST_CHANGES]) + more
    raise ProfileUnconfirmed(
        f"{NARROWING} changes the profile {own.id}: {shown}. "
        f"If that is right: --accept-profile {narrow.fingerprint(asked)}"
    )


def _asked_by(root: Path) -> Toml:
    file = root / NARROWING
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError, RecursionError) as error:
        raise ProfileUnconfirmed(f"{file}: this cannot be read as TOML: {error}") from error
