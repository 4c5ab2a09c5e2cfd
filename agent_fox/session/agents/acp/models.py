"""The model of a session of the Agent Client Protocol, which is set in three ways.

An agent of today offers it as one of its configuration options, an older one by a list of models; for one that does
neither, a person writes `{model}` into its command or environment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from acp.schema import SessionConfigSelectGroup
from pydantic import Field

from agent_fox.core.values import dataclass
from agent_fox.session.agents.shapes import Shape, Word

if TYPE_CHECKING:
    from acp.schema import NewSessionResponse, SessionConfigOptionSelect

MODEL, EFFORT, MODE = "model", "thought_level", "mode"
"""Categories of configuration options."""

ASKING = "default"
"""What agents call the mode in which they ask."""

MOST_NAMED = 12


class OldModel(Shape):
    """A model of the list that agents offered before there were configuration options."""

    modelId: str
    name: Word = ""


class OldModels(Shape):
    """What `session/new` said of models before. The protocol's library of today does not know it any more."""

    currentModelId: Word = ""
    availableModels: list[OldModel] = Field(default=[])


class OldSession(Shape):
    models: OldModels | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The request that sets what is wanted, without the session. `problem` instead: why it cannot be set."""

    method: str = ""
    parameters: Mapping[str, str] | None = None
    problem: str = ""


def choices(session: NewSessionResponse, raw: Mapping[str, object], model: str, effort: str) -> Iterator[Choice]:
    """What has to be asked of a session that has just begun. Empty words are not wanted: the agent's own choice stays.

    raw: the same answer as it came.
    """
    old = list_of(raw)
    listed = {each.modelId: each.name for each in old.availableModels} if old is not None else {}
    for category, wanted, place in ((MODEL, model, "{model}"), (EFFORT, effort, "{effort}")):
        option = option_of(session, category)
        if wanted and option is not None:
            request = Choice("session/set_config_option", {"configId": option.id})
            yield chosen(request, "value", option.name.lower(), wanted, values_of(option))
        elif wanted and category == MODEL and listed:
            yield chosen(Choice("session/set_model"), "modelId", "model", wanted, listed)
        elif wanted:
            what = "models" if category == MODEL else "effort"
            why = f"the agent offers no choice of {what}, so {wanted!r} cannot be set"
            yield Choice(problem=f"{why}; write {place} into its command or environment")


def asking_mode(session: NewSessionResponse) -> Iterator[Choice]:
    """The request for the mode in which an agent asks for permission, where it has begun in another: some begin in one
    in which they, or a model of theirs, decide for us.
    """
    option, modes = option_of(session, MODE), session.modes
    if modes is not None and modes.current_mode_id != ASKING:
        if any(mode.id == ASKING for mode in modes.available_modes):
            yield Choice("session/set_mode", {"modeId": ASKING})
    elif option is not None and option.current_value != ASKING and ASKING in values_of(option):
        yield Choice("session/set_config_option", {"configId": option.id, "value": ASKING})


def current(session: NewSessionResponse, raw: Mapping[str, object]) -> str:
    """The model that a session has begun with; empty where the agent does not say."""
    option = option_of(session, MODEL)
    old = list_of(raw)
    return option.current_value if option is not None else old.currentModelId if old is not None else ""


def list_of(raw: Mapping[str, object]) -> OldModels | None:
    """None where there is none that can be read: another kind of agent may mean something else by the name."""
    with contextlib.suppress(ValueError):
        return OldSession.model_validate(raw).models
    return None


def option_of(session: NewSessionResponse, category: str) -> SessionConfigOptionSelect | None:
    options = [option for option in session.config_options or () if option.type == "select"]
    return next((option for option in options if category in (option.category, option.id)), None)


def values_of(option: SessionConfigOptionSelect) -> dict[str, str]:
    """The values that an option offers, in groups or not, with their names."""
    groups = (each.options if isinstance(each, SessionConfigSelectGroup) else [each] for each in option.options)
    return {value.value: value.name for group in groups for value in group}


def chosen(request: Choice, name: str, what: str, wanted: str, offered: Mapping[str, str]) -> Choice:
    """The request for the value that is wanted, by itself or by its name. No similar one is ever taken."""
    value = wanted if wanted in offered else next((value for value, name in offered.items() if name == wanted), None)
    if value is not None:
        return Choice(request.method, {**(request.parameters or {}), name: value})
    more = f" and {len(offered) - MOST_NAMED} more" if len(offered) > MOST_NAMED else ""
    listed = ", ".join([*offered][:MOST_NAMED]) or "none"
    return Choice(problem=f"the agent offers no {what} {wanted!r}; it offers {listed}{more}")
