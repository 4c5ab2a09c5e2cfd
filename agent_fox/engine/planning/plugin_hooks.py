"""What plugins offer, hook by hook: the only place where their hooks are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from agent_fox.plugins import blamed_on

if TYPE_CHECKING:
    import pluggy

T = TypeVar("T")


def refuse(found: object, expected: str) -> TypeError:
    return TypeError(f"it gave {found!r}, which is not {expected}")


def given(plugins: pluggy.PluginManager, hook: str) -> list[tuple[str, object]]:
    """What each plugin gives for a hook, with the plugin's name. Raises PluginError naming the one that fails."""
    results: list[tuple[str, object]] = []
    everyone = plugins.list_name_plugin()
    for name, plugin in everyone:
        others = [other for _, other in everyone if other is not plugin]
        with blamed_on(name, hook):
            results += [(name, some) for some in plugins.subset_hook_caller(hook, others)()]
    return results


def offered(plugins: pluggy.PluginManager, hook: str, fits: Callable[[object], TypeGuard[T]]) -> list[tuple[str, T]]:
    """What plugins offer for a hook, checked against its protocol. Raises PluginError for what does not fit."""
    implementations: list[tuple[str, T]] = []
    for name, some in given(plugins, hook):
        for each in some if isinstance(some, Sequence) else [some]:
            with blamed_on(name, hook):
                if isinstance(each, type) or not fits(each):
                    raise refuse(each, "what that hook is for")
                implementations.append((name, each))
    return implementations
