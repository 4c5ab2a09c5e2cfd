"""What the fake GitHub answers about accounts, Apps and their tokens, and about what is left of the rate."""

from __future__ import annotations

from agent_fox.testing.github.access import Actor
from agent_fox.testing.github.endpoints import Call
from agent_fox.testing.github.limits import HOUR, Limits
from agent_fox.testing.github.state import App, Repository, Token, stamp
from agent_fox.testing.github.wire import Answer, Refusal, answer, not_found


def get_user(call: Call) -> Answer:
    """The account that asks. An App's token has none."""
    if call.actor.token is not None and call.actor.token.installation is not None:
        raise Refusal(403, "Resource not accessible by integration")
    return answer(200, call.show.oneself(call.actor.account))


def get_account(call: Call, login: str) -> Answer:
    """Any account, as all may see it."""
    account = next((each for each in call.world.accounts.values() if each.login.lower() == login.lower()), None)
    if account is None:
        raise not_found()
    return answer(200, call.show.oneself(account))


def get_app(call: Call) -> Answer:
    return answer(200, call.show.app(_app(call.actor)))


def _app(who: Actor) -> App:
    if who.app is None:
        raise Refusal(401, "A JSON web token could not be decoded")
    return who.app


def get_installation(call: Call, where: Repository) -> Answer:
    return answer(200, call.show.installation(_app(call.actor), where))


def get_installation_by_number(call: Call, number: int) -> Answer:
    app = _app(call.actor)
    if app.installation != number:
        raise not_found()
    return answer(200, call.show.installation(app, next(iter(call.world.repositories.values()))))


def create_token(call: Call, number: int) -> Answer:
    """A token of an installation: it lives an hour."""
    app = _app(call.actor)
    if app.installation != number:
        raise not_found()
    secret, expires = f"ghs_{next(call.world.ids):036d}", call.world.clock() + HOUR
    call.world.tokens[secret] = Token(app.account, expires=expires, installation=number)
    rights = {"issues": "write", "metadata": "read"}
    return answer(201, {"token": secret, "expires_at": stamp(expires), "permissions": dict(rights)})


def rate_limit(limits: Limits) -> Answer:
    core = {
        "limit": limits.requests,
        "remaining": limits.remaining,
        "reset": int(limits.reset),
        "used": limits.requests - limits.remaining,
    }
    return answer(200, {"resources": {"core": dict(core), "search": dict(core)}, "rate": dict(core)})
