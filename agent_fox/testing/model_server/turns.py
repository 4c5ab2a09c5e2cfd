"""A step's actions as a model's turns: what it says or does in each, and what stands in the way first. Pure."""

from __future__ import annotations

from agent_fox.core.values import dataclass
from agent_fox.testing.model_server.script import (
    Action,
    Drop,
    Ending,
    Fail,
    Garbage,
    Hang,
    Obstacle,
    Say,
    Status,
    Step,
)
from agent_fox.testing.scripted.script import Complain, Print, Sleep

DONE = "done"


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: words first, then the action. `obstacles` holds each with its place in the step."""

    action: Action
    words: str = ""
    obstacles: tuple[tuple[int, Obstacle], ...] = ()


def turns_of(step: Step) -> list[Turn]:
    """The turns of a step; the last one is always an ending."""
    turns: list[Turn] = []
    obstacles: list[tuple[int, Obstacle]] = []
    words: list[str] = []
    for place, action in enumerate(step.actions):
        match action:
            case Print(print=text) | Complain(complain=text):
                words.append(text)
            case Status() | Drop() | Garbage() | Hang() | Fail() | Sleep():
                obstacles.append((place, action))
            case _:
                turns.append(Turn(action, "\n".join(words), tuple(obstacles)))
                obstacles, words = [], []
    if obstacles or words or not turns or not isinstance(turns[-1].action, Ending):
        turns.append(Turn(Say(say="\n".join(words) or step.summary or DONE), obstacles=tuple(obstacles)))
    return turns


def turn_for(step: Step, played: int, *, is_asked_again: bool) -> tuple[int, Turn]:
    """The turn after `played` ones, and its place. Beyond the end, who asks again hears the last answer again.

    A tool's result beyond the end, such as that of a structured answer, gets a plain last word.
    """
    turns = turns_of(step)
    if played < len(turns):
        return played, turns[played]
    return played, turns[-1] if is_asked_again else Turn(Say(say=step.summary or DONE))
