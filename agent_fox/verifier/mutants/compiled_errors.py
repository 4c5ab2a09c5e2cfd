"""Where another error can stand in the place of one, in Go, Java and Rust, and what always comes to an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.mutants.syntax import around, named
from agent_fox.verifier.policy.readers.trees import children, field, text_of
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tree_sitter import Node

    from agent_fox.verifier.mutants.sites import Piece

_PANICS = regex(r"(?:std::|core::)?(?:panic|unreachable|todo|unimplemented)!?\s*[(\[{]")
_PANIC = frozenset({"panic", "std::panic", "core::panic"})


def raises(statement: Node, language: Language) -> bool:
    """Whether a statement does nothing but end its function by an exception or a panic."""
    if language is Language.JAVA:
        return statement.type == "throw_statement"
    return _PANICS.match(text_of(statement)) is not None


def thrown(node: Node, helper: str) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """For a `throw` of Java: an error that tells something else, if it is made here; and another error."""
    error = children(node)[0]
    changed = around(error, f"{helper}.told(", ")") if error.type == "object_creation_expression" else ()
    return changed, around(error, f"{helper}.another(", ")")


def panicked(node: Node, helper: str, language: Language) -> Sequence[Piece]:
    """Another value, or another text, for a panic of Go or Rust, or for `expect`; nothing for what is none."""
    given = field(node, "arguments")
    if language is Language.GO:
        if named(node, "function") != "panic" or given is None or len(children(given)) != 1:
            return ()
        return around(children(given)[0], f"{helper}Panic(", ")")
    macro, is_expected = field(node, "macro"), named(node, "function").endswith(".expect")
    if is_expected and given is not None and children(given) and children(given)[0].type == "string_literal":
        return around(children(given)[0], f"&{helper}::turned(", ".to_string())")
    if macro is None or text_of(macro) not in _PANIC or not text_of(node.named_children[-1])[1:-1].strip():
        return ()
    before = f'panic!("{{}}", {helper}::turned(format'
    return (node.start_byte, macro.end_byte, before), (node.end_byte, node.end_byte, "))")


def returned_in_go(results: tuple[Sequence[str], Sequence[str]], ends: Sequence[Node], helper: str) -> Iterator[Piece]:
    """Another error in the place of each that a function returns. `results`: its types, and their names if any."""
    types, names = results
    if "error" not in types:
        return
    made = [f"{helper}{at}" for at in range(len(types))]
    shape = ", ".join(f"{name} {kind}" for name, kind in zip(made, types, strict=True))
    pointers = ", ".join(f"&{name}" for name, kind in zip(made, types, strict=True) if kind == "error")
    for each in ends:
        values = children(each)
        if not values and names and "_" not in names:
            mine = ", ".join(f"&{name}" for name, kind in zip(names, types, strict=True) if kind == "error")
            yield from around(each, f"{helper}Another({mine}); ", "")
        elif values and children(values[0])[-1].type != "nil":
            given = f"func() ({shape}) {{ {', '.join(made)} = "
            yield from around(values[0], given, f"; {helper}Another({pointers}); return }}()")


def returned_in_rust(
    function: Node, ends: Sequence[Node], helper: str, variants: Mapping[str, Sequence[str]],
    is_known: Callable[[Node], bool],
) -> Iterator[Piece]:  # fmt: skip
    """Another error in the place of each that a function returns; where no other is known, none at all.

    `variants`: those without fields of each enum of the text. `is_known`: whether the helper can perturb a type.
    """
    result = field(function, "return_type")
    given = field(result, "type_arguments") if result is not None and result.type == "generic_type" else None
    if result is None or given is None or named(result, "type").rpartition("::")[2] != "Result":
        return
    types = children(given)
    for end in ends:
        if text_of(end).startswith("Ok("):
            continue
        error = types[1] if len(types) > 1 else None
        others = variants.get(text_of(error), ()) if error is not None else ()
        if error is not None and is_known(error):
            yield from around(end, f"{helper}::err(", ")")
        elif error is not None and (change := other_variant(text_of(error), others, text_of(end))):
            yield from around(end, "(", f").map_err(|e| {change})")
        elif types[0].type == "unit_type" or is_known(types[0]):
            yield from around(end, f"{helper}::okay(", ")")


def other_variant(enum: str, plain: Sequence[str], given: str) -> str:
    """One that is other than the one that is given; empty where there is none."""
    if len(plain) > 1:
        return f"match e {{ {enum}::{plain[0]} => {enum}::{plain[1]}, _ => {enum}::{plain[0]} }}"
    return f"{{ let _ = e; {enum}::{plain[0]} }}" if plain and f"::{plain[0]}" not in given else ""


def plain_variants(root: Node) -> dict[str, list[str]]:
    """Of each enum of Rust in a text, the variants without fields."""
    named_in: dict[str, list[str]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        body = field(node, "body") if node.type == "enum_item" else None
        for variant in children(body) if body is not None else ():
            if variant.type == "enum_variant" and field(variant, "body") is None:
                named_in.setdefault(named(node, "name"), []).append(named(variant, "name"))
        waiting.extend(
            child for child in node.named_children if child.type in ("enum_item", "mod_item", "declaration_list")
        )
    return named_in
