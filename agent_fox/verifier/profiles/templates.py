"""Command templates: which holes an element has, and filling them. Which values there are is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_fox.core.regex import regex

_LIST = regex(r"\{([a-z][a-z0-9-]*)\.\.\.\}")
_HOLE = regex(r"\{([a-z][a-z0-9-]*)\}")
_ANY_HOLE = regex(r"\{([a-z][a-z0-9-]*)(?:\.\.\.)?\}")


def list_name(element: str) -> str | None:
    """`module` for `{module...}`, None for an element that is not a list."""
    match = _LIST.fullmatch(element)
    return match[1] if match else None


def value_names(elements: Iterable[str]) -> frozenset[str]:
    """The names of the single values in these elements."""
    return frozenset(name for element in elements for name in _HOLE.findall(element))


def list_names(elements: Iterable[str]) -> frozenset[str]:
    """The names of the lists among these elements, also of ones that wrongly stand within an element."""
    return frozenset(name for element in elements for name in _LIST.findall(element))


def fill(elements: Sequence[str], values: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The elements with every hole filled. Raises KeyError for a name that has no value.

    What is filled in is never looked at again, so no value can bring a hole of its own.
    """
    return tuple(_filled(elements, values, lists))


def fill_text(text: str, values: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda found: values[found[1]], text)


def _filled(elements: Sequence[str], values: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for element in elements:
        name = list_name(element)
        if name is None:
            yield fill_text(element, values)
        else:
            yield from lists[name]


def names_of(elements: Iterable[str]) -> frozenset[str]:
    """All names, of values and lists."""
    return frozenset(name for element in elements for name in _ANY_HOLE.findall(element))
