"""The agent class that mini-swe-agent is started with: its own, which reports what happens on standard output.

It also takes the key out of the environment that commands inherit, and gives them a person's own Python variables back,
which the program itself does not get: they may lead into the workspace.
"""

from __future__ import annotations

MODULE = "agent_fox_telling"
KEY = "AGENT_FOX_MODEL_KEY"
KEPT = "AGENT_FOX_KEPT"

TELLING = '''import json, os

_told = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

import minisweagent
from minisweagent.agents.default import AgentConfig, DefaultAgent

_OWN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE")


def tell(type, **what):
    _told.write(json.dumps({"type": type, **what}, default=str) + "\\n")
    _told.flush()


def chain(error):
    names = []
    while error is not None and len(names) < 20:
        names.append(f"{type(error).__module__}.{type(error).__name__}")
        error = error.__cause__ or error.__context__
    return names


class Refused(Exception):
    """The request or its key is not accepted: it is not sent again."""


class Config(AgentConfig):
    rules: str = ""


class Telling(DefaultAgent):
    def __init__(self, model, env, **settings):
        super().__init__(model, env, config_class=Config, **settings)
        self.config.output_path = None
        model.config.model_kwargs["api_key"] = os.environ.pop("AGENT_FOX_MODEL_KEY", "")
        for name in _OWN:
            os.environ.pop(name, None)
        os.environ.update(json.loads(os.environ.pop("AGENT_FOX_KEPT", "{}")))
        self._request, model._query = model._query, self._asked
        model.abort_exceptions = [*model.abort_exceptions, Refused]
        tell("began", model=model.config.model_name, version=minisweagent.__version__)

    def _asked(self, messages, **more):
        tell("turn")
        try:
            return self._request(messages, **more)
        except Exception as error:
            status = getattr(error, "status_code", None)
            tell("trouble", status=status, errors=chain(error), text=str(error)[:2000])
            if status in (400, 401, 403, 404):
                raise Refused(str(error)) from error
            raise

    def add_messages(self, *messages):
        for message in messages:
            extra = message.get("extra") or {}
            response = extra.get("response")
            told = {name: extra[name] for name in ("exit_status", "submission", "returncode") if name in extra}
            tell(
                "message",
                role=message.get("role"),
                content=message.get("content"),
                call=message.get("tool_call_id"),
                interrupt=extra.get("interrupt_type"),
                exception=extra.get("exception_info") or extra.get("exception_str"),
                response=response if isinstance(response, dict) else None,
                cost=self.cost,
                **told,
            )
        return super().add_messages(*messages)
'''
