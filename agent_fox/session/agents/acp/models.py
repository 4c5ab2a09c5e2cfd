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
    if model:
        yield (
            by_option(session, MODEL, model)
            or by_list(raw, model)
            or Choice(
                problem=f"the agent offers no choice of models, so {model!r} cannot be set; "
                "write {model} into its command or environment"
            )
        )
    if effort:
        yield by_option(session, EFFORT, effort) or Choice(
            problem=f"the agent offers no choice of effort, so {effort!r} cannot be set; "
            "write {effort} into its command or environment"
        )


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


def by_option(session: NewSessionResponse, category: str, wanted: str) -> Choice | None:
    option = option_of(session, category)
    if option is None:
        return None
    offered = values_of(option)
    value = found(offered, wanted)
    if value is None:
        return Choice(problem=unknown(option.name.lower(), wanted, list(offered)))
    return Choice("session/set_config_option", {"configId": option.id, "value": value})


def by_list(raw: Mapping[str, object], wanted: str) -> Choice | None:
    old = list_of(raw)
    if old is None or not old.availableModels:
        return None
    value = found({model.modelId: model.name for model in old.availableModels}, wanted)
    if value is None:
        return Choice(problem=unknown("model", wanted, [model.modelId for model in old.availableModels]))
    return Choice("session/set_model", {"modelId": value})


def found(offered: Mapping[str, str], wanted: str) -> str | None:
    """The value that is wanted, by itself or by its name. No similar one is ever taken."""
    return wanted if wanted in offered else next((value for value, name in offered.items() if name == wanted), None)


def unknown(what: str, wanted: str, offered: list[str]) -> str:
    more = f" and {len(offered) - MOST_NAMED} more" if len(offered) > MOST_NAMED else ""
    return f"the agent offers no {what} {wanted!r}; it offers {', '.join(offered[:MOST_NAMED]) or 'none'}{more}"
