"""JSON that others wrote, read without trusting it: what it is refused for, in words. Not what it means."""

from __future__ import annotations

import json

Pairs = list[tuple[str, object]]


class NotJson(ValueError):
    """A text that is no JSON. Its message says why; `line` and `column` count from 1, and are 0 where no place is."""

    def __init__(self, why: str, line: int = 0, column: int = 0) -> None:
        super().__init__(why)
        self.line, self.column = line, column


class Doubled(NotJson):
    """An object with the same name twice, refused by a strict reading: of two values nobody knows which is meant."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:40]!r} stands in it twice")
        self.name = name


class DoubledObject(dict[str, object]):
    """An object with the same name twice, as `pairs` were written; of the values the last one is in it."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def object_of(pairs: Pairs) -> dict[str, object]:
    """The object of these pairs, which is a DoubledObject where a name stands in them twice."""
    members = dict(pairs)
    return members if len(members) == len(pairs) else DoubledObject(pairs)


def read_json(text: str | bytes, *, is_strict: bool = False) -> object:
    """The value that the whole text is. Raises NotJson, also for what is nested too deeply or has too long a number.

    A strict reading takes no object with a name twice, and no NaN or Infinity.
    """
    try:
        if not is_strict:
            return json.loads(text)
        decoded = text if isinstance(text, str) else text.decode()
        return json.loads(decoded, object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise NotJson("it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise NotJson(f"it is not JSON: {error.msg}", error.lineno, error.colno) from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson("it holds a number with too many digits") from error


def json_object(text: str | bytes) -> dict[str, object] | None:
    """The object that the whole text is, read without strictness; None for anything else."""
    try:
        value = read_json(text)
    except NotJson:
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: Pairs) -> dict[str, object]:
    members = object_of(pairs)
    if isinstance(members, DoubledObject):
        names = [name for name, _ in pairs]
        raise Doubled(next(name for name in names if names.count(name) > 1))
    return members


def _no_number(word: str) -> object:
    raise NotJson(f"{word} is not a number")
