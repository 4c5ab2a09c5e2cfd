"""Who asks the fake GitHub, and whether they may: tokens, Apps, roles, archived repositories. Changes nothing."""

from __future__ import annotations

import base64
import json

from agent_fox.core.values import dataclass
from agent_fox.testing.github.state import Account, App, Grant, Issue, Repository, Role, Token, World
from agent_fox.testing.github.wire import Refusal, Request, not_found

_LONGEST_JWT = 660
"""Ten minutes, and the minute that clients set `iat` back."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The one who asks: an account with a token, an App by itself, or nobody."""

    token: Token | None = None
    app: App | None = None

    @property
    def account(self) -> Account:
        if self.token is None:
            raise Refusal(401, "Requires authentication")
        return self.token.account

    @property
    def role(self) -> Role:
        return Role.NONE if self.token is None else self.token.role

    @property
    def kind(self) -> str:
        """How GitHub calls this one's secret where it is not enough."""
        is_app = self.token is not None and self.token.installation is not None
        return "integration" if is_app else "personal access token"


def actor(world: World, request: Request) -> Actor:
    """Who asks. Raises Refusal 401 for a secret that is not known or too old."""
    _, _, secret = request.headers.get("authorization", "").partition(" ")
    if not secret:
        return Actor()
    if secret.count(".") == 2:
        return Actor(app=_app(world, secret))
    token = world.tokens.get(secret)
    if token is None or (token.expires is not None and world.clock() >= token.expires):
        raise Refusal(401, "Bad credentials")
    return Actor(token)


def _app(world: World, secret: str) -> App:
    """The App whose JSON Web Token this is. Only its shape is looked at: there is no key to check it with."""
    head, claims = (_part(part) for part in secret.split(".")[:2])
    if head.get("alg") != "RS256":
        raise Refusal(401, "A JSON web token could not be decoded")
    iat, exp, iss = (claims.get(name) for name in ("iat", "exp", "iss"))
    if not isinstance(iat, int) or not isinstance(exp, int) or not 0 < exp - iat <= _LONGEST_JWT:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    app = next((each for each in world.apps.values() if str(each.id) == str(iss)), None)
    if app is None:
        raise Refusal(401, "'Issuer' claim ('iss') must be an Integer")
    return app


def _part(text: str) -> dict[str, object]:
    try:
        part = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        part = None
    if not isinstance(part, dict):
        raise Refusal(401, "A JSON web token could not be decoded")
    return part


def may_see(where: Repository, who: Actor) -> bool:
    return not where.is_private or who.role > Role.NONE


def check_seen(where: Repository, who: Actor) -> None:
    """404 for what one may not even know of."""
    if not may_see(where, who):
        raise not_found()


def check_read(where: Repository, who: Actor) -> None:
    """May the issues here be read? A public repository's may, with any token that was given them."""
    check_seen(where, who)
    if who.token is not None and who.token.grant < Grant.READ:
        raise _missing(who, "issues=read")
    if not where.has_issues:
        raise Refusal(410, "Issues has been disabled in this repository.")


def check_write(where: Repository, who: Actor) -> Account:
    """May something be written here? The account that writes."""
    check_seen(where, who)
    account = who.account
    if who.token is not None and who.token.grant < Grant.WRITE:
        raise _missing(who, "issues=write")
    if where.is_archived:
        raise Refusal(403, "Repository was archived so is read-only.")
    if not where.has_issues:
        raise Refusal(410, "Issues has been disabled in this repository.")
    return account


def check_edit(issue_author: Account, who: Actor) -> None:
    """Only its author, and who has a role here, may change what was written."""
    if who.account != issue_author and who.role < Role.TRIAGE:
        raise Refusal(403, "Must have admin rights to Repository.")


def check_unlocked(issue: Issue, who: Actor) -> None:
    """A locked conversation is open to people who may push, and to no App."""
    is_person = who.token is not None and who.token.installation is None
    if issue.face.is_locked and not (is_person and who.role >= Role.WRITE):
        raise Refusal(403, "Unable to create comment because issue is locked.")


def _missing(who: Actor, permission: str) -> Refusal:
    headers = {"X-Accepted-GitHub-Permissions": permission}
    return Refusal(403, f"Resource not accessible by {who.kind}", headers=headers)
