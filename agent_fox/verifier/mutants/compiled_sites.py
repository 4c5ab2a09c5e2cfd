"""Where Go, Java and Rust can be broken, so that it still compiles, and the text so broken. Twins: compiled_twins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.mutants import compiled_errors as errors
from agent_fox.verifier.mutants import sites as shared
from agent_fox.verifier.mutants.compiled_twins import twin as twin
from agent_fox.verifier.mutants.helpers import helper_name, perturbing
from agent_fox.verifier.mutants.sites import Kind, Piece, Site
from agent_fox.verifier.mutants.syntax import (
    FLIPPED,
    Found,
    Place,
    around,
    instead,
    named,
    one_more,
    plain,
    shown,
    tree,
)
from agent_fox.verifier.policy.readers.trees import children, field, text_of
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

_FUNCTIONS = frozenset(
    {"function_declaration", "method_declaration", "func_literal", "constructor_declaration", "function_item"}
)
_BLOCKS = frozenset({"block", "constructor_body"})
_WITHIN = frozenset({"func_literal", "lambda_expression", "closure_expression", "async_block", "class_body"})
_NAMED = frozenset(
    {"class_declaration", "enum_declaration", "interface_declaration", "record_declaration", "impl_item", "trait_item"}
    | {"mod_item"}
)
_NOTHING = frozenset(
    {"import_declaration", "import_spec", "package_clause", "package_declaration", "type_declaration", "array_type"}
    | {"annotation", "marker_annotation", "use_declaration", "attribute_item", "inner_attribute_item", "struct_item"}
    | {"macro_definition", "type_item", "extern_crate_declaration", "type_arguments", "type_parameters"}
)
_NUMBERS = frozenset(
    {"int_literal", "float_literal", "decimal_integer_literal", "hex_integer_literal", "integer_literal"}
    | {"decimal_floating_point_literal"}
)
_TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal", "string_literal"})
_LETTERS = frozenset({"rune_literal", "character_literal", "char_literal"})
_STATEMENTS = {
    Language.GO: frozenset(
        {"expression_statement", "assignment_statement", "inc_statement", "dec_statement", "defer_statement"}
        | {"go_statement", "send_statement"}
    ),
    Language.JAVA: frozenset({"expression_statement", "throw_statement"}),
    Language.RUST: frozenset({"expression_statement"}),
}
_RAISING = frozenset({"throw_statement", "call_expression", "macro_invocation"})
_NO_STATEMENTS = frozenset(
    {"if_expression", "match_expression", "for_expression", "while_expression", "loop_expression", "block"}
    | {"unsafe_block", "return_expression", "break_expression", "continue_expression"}
)
_LEFT_OUT = {
    Language.GO: ("if false { ", " }"),
    Language.JAVA: ("{ if (false) { ", " } }"),
    Language.RUST: ("if false { ", " }"),
}
_MARKS = ("attribute_item", "line_comment", "block_comment")
_LOGGING = regex(r"(?:log|logger|slog|LOG|LOGGER|logging)\s*\.|(?:log::)?(?:trace|debug|info|warn|error)!")
_SUFFIX = regex(r"([0-9_]+(?:\.[0-9_]+)?)([LlFfDd]|_?[iu](?:8|16|32|64|128|size)|_?f(?:32|64))?")
_TEST_MARK = regex(r"#\[(?:(?:\w+::)*test\b|rstest|cfg\(.*\btest\b)", 0)
_ERRORS = regex(r"(?:Error|Exception|Throwable|Object)(?:<.*)?$")
_KNOWN = frozenset({"Option", "Vec", "Box", "Result"})
_BARE = frozenset(
    {"identifier", "call_expression", "method_invocation", "field_access", "field_expression", "selector_expression"}
    | {"macro_invocation", "index_expression", "array_access"}
)
_VALUE_ENDS = ("expression", "literal", "identifier", "invocation", "self", "_expr")
_NUMERIC = frozenset({"int", "long", "short", "byte", "char", "float", "double"})
_ANYTHING = regex(r"\bany\b|interface\{\}")
_QUOTED = "'\\\\"
_LETTER = regex(r"(b?)'([ -\[\]-}])'")
_STR = regex(r"&(?:'\w+\s+)?str")
_EQUALITY = frozenset({"equals", "Equal"})
_COMPARING = _EQUALITY | frozenset({"compareTo", "Compare", "Cmp"})


def sites(text: str, language: Language) -> tuple[Site, ...]:
    """All sites, in the order of the text; none in what Rust compiles for tests. Raises Unreadable."""
    root = tree(text, language)
    variants = errors.plain_variants(root) if language is Language.RUST else {}
    reader = _Reader(Found(text), language, helper_name(text, language), variants)
    reader.visit(root, Place())
    return reader.found.in_order()


def broken(text: str, chosen: Iterable[Site], language: Language) -> str:
    """The text with all chosen sites broken."""
    changed, name = shared.broken(text, chosen), helper_name(text, language)
    if name not in changed:
        return changed
    changed = changed.removesuffix("\n") + "\n" + perturbing(name, language)
    if language is not Language.GO:
        return changed
    package = next(node for node in tree(text, language).named_children if node.type == "package_clause")
    written = changed.encode()
    imported = "".join(f'; import {name}{each} "{each}"' for each in ("reflect", "sync", "unsafe"))
    return (written[: package.end_byte] + imported.encode() + written[package.end_byte :]).decode()


def inline_tests(text: str) -> tuple[str, str]:
    """A file of Rust without what stands in it for tests alone, and that; what lies within other modules stays.

    Raises Unreadable.
    """
    written, kept, tests, at = text.encode(), bytearray(), bytearray(), 0
    reader = _Reader(Found(text), Language.RUST, "", {})
    for node in tree(text, Language.RUST).named_children:
        if node.type not in _MARKS and reader.is_for_tests(node):
            begin = _with_marks(node).start_byte
            kept += written[at:begin]
            tests += written[begin : node.end_byte] + b"\n"
            at = node.end_byte
    return (kept + written[at:]).decode(), tests.decode()


def is_for_tests(text: str, line: int) -> bool:
    """Whether a line of Rust, from 1, is for tests alone, as an example in a comment is. Raises Unreadable."""
    if text.split("\n")[line - 1].lstrip().startswith(("///", "//!")):
        return True
    reader, node = _Reader(Found(text), Language.RUST, "", {}), tree(text, Language.RUST)
    while not reader.is_for_tests(node):
        around_it = (each for each in node.named_children if each.start_point[0] < line <= each.end_point[0] + 1)
        within = next((each for each in around_it if each.type not in _MARKS), None)
        if within is None:
            return False
        node = within
    return True


def _with_marks(node: Node) -> Node:
    """The first of what belongs to an item: its attributes and comments stand before it."""
    first, before = node, node.prev_named_sibling
    while before is not None and before.type in _MARKS:
        first = before if before.type == "attribute_item" else first
        before = before.prev_named_sibling
    return first


@dataclass(slots=True)
class _Reader:
    found: Found
    language: Language
    helper: str
    variants: Mapping[str, Sequence[str]]  # without fields, of the enums of Rust
    depth: int = 0  # modules of Rust around the node

    def visit(self, node: Node, place: Place) -> None:
        kind = node.type
        if kind in _NOTHING or self.is_for_tests(node):
            return
        if kind in _FUNCTIONS and field(node, "body") is not None:
            self._function(node, place)
        elif kind in _NAMED:
            self._named(node, place)
        elif kind in _NUMBERS or kind in _TEXTS or kind in _LETTERS or kind in ("true", "false", "boolean_literal"):
            self._constant(node, place)
        else:
            self._other(node, place)

    def _other(self, node: Node, place: Place) -> None:
        kind = node.type
        if kind in _STATEMENTS[self.language] and not self._statement(node, place):
            return
        if kind in _RAISING:
            self.raised(node, place)
        if kind == "binary_expression":
            self._comparison(node, place)
        elif kind == "instanceof_expression":
            self._turned(node, place)
        elif kind == "unary_expression" and text_of(node).startswith("!"):
            piece = (node.start_byte, node.named_children[-1].start_byte, "")
            self.found.add(Kind.COMPARISON, node, place, [piece], f"`!` of {shown(node)} is left out")
        elif kind in ("if_statement", "if_expression", "ternary_expression"):
            self._condition(node, place)
        self._below(node, place)

    def _below(self, node: Node, place: Place) -> None:
        for child in children(node):
            self.visit(child, place)

    def is_for_tests(self, node: Node) -> bool:
        before = node.prev_named_sibling if self.language is Language.RUST else None
        while before is not None and before.type in _MARKS:
            if _TEST_MARK.match(text_of(before)) and "not(test)" not in text_of(before):
                return True
            before = before.prev_named_sibling
        return False

    def _named(self, node: Node, place: Place) -> None:
        base = next((each for each in node.named_children if each.type == "superclass"), None)
        if base is not None and not _ERRORS.search(text_of(base)):
            what = f"the base class of {named(node, 'name')} is dropped"
            self.found.add(Kind.BASE, base, Place(), [instead(base, "")], what)
        self.depth += node.type == "mod_item"
        name = named(node, "name") or named(node, "type").partition("<")[0]
        body = field(node, "body")
        if body is not None:
            self._below(body, place.inside(name))
        self.depth -= node.type == "mod_item"

    # functions

    def _function(self, node: Node, place: Place) -> None:
        receiver = named(node, "receiver").strip("()").split(" ")[-1].lstrip("*").partition("[")[0]
        name = named(node, "name") or "<anonymous>"
        inner = self.found.function(node, place.inside(receiver) if receiver else place, name)
        body = field(node, "body")
        if body is None:
            return
        pieces = self._value(node, body)
        if pieces:
            kind = Kind.PROPERTY if pieces[0][2].endswith("::fewer(") else Kind.VALUE
            self.found.add(kind, body, inner, pieces, f"the value that {inner.owner} returns is changed")
        if name in _EQUALITY and pieces:
            return  # whatever else of it is broken tells that it is asked, not that it is right
        pieces = self.other_error(node, body)
        if pieces:
            what = f"another error stands in the place of the one that {inner.owner} returns"
            self.found.add(Kind.OTHER_ERROR, body, inner, pieces, what)
        self._emptied(node, body, inner)
        self._below(body, inner)

    def _value(self, node: Node, body: Node) -> list[Piece]:
        if self.language is Language.GO:
            return list(_go_value(node, body, self.helper))
        if self.language is Language.JAVA:
            return list(_java_value(node, body, self.helper))
        return list(_rust_value(node, body, "super::" * self.depth + self.helper))

    def other_error(self, node: Node, body: Node) -> list[Piece]:
        if self.language is Language.GO:
            ends = list(_given_back(body, "return_statement"))
            return list(errors.returned_in_go(_go_results(node), ends, self.helper))
        if self.language is Language.RUST and not _is_constant(node):
            helper = "super::" * self.depth + self.helper
            return list(errors.returned_in_rust(node, _rust_ends(body), helper, self.variants, _is_known))
        return []

    def _is_always_error(self, body: Node) -> bool:
        """Whether all that a body comes to is an error: there is no way out before it."""
        ends = "return_expression" if self.language is Language.RUST else "return_statement"
        within = children(body)
        if within and within[0].type == "statement_list":
            within = children(within[0])
        is_last = bool(within) and errors.raises(within[-1], self.language)
        return is_last and not any(True for _ in _given_back(body, ends))

    def _emptied(self, node: Node, body: Node, place: Place) -> None:
        nothing = _nothing(node, self.language)
        if nothing is None or not children(body):
            return
        first = children(body)[0]
        is_above = first.type == "explicit_constructor_invocation"
        at = first.end_byte if is_above else body.start_byte + 1
        written = {
            Language.GO: f" if true {{ return{nothing} }}; ",
            Language.JAVA: f" if (true) {{ return{nothing}; }} ",
            Language.RUST: f" if true {{ return{nothing}; }} ",
        }
        kind = Kind.ONLY_ERROR if self._is_always_error(body) else Kind.EMPTIED
        self.found.add(kind, body, place, [(at, at, written[self.language])], f"{place.owner} does nothing")

    # what stands in a body

    def _constant(self, node: Node, place: Place) -> None:
        piece = _changed_constant(node)
        if piece is not None:
            self.found.add(place.kind, node, place, [piece], f"{shown(node)} is changed")

    def _statement(self, node: Node, place: Place) -> bool:
        """Leaves a statement out; what it uses is still used. Returns False for one that has no sites at all."""
        inner = children(node)[0] if children(node) else node
        if _LOGGING.match(text_of(inner)):
            return False
        if self._can_be_left_out(node, inner):
            pieces = around(node, *_LEFT_OUT[self.language])
            gives = named(inner, "operator") == "=" and named(inner, "left").startswith("this.")
            kind = Kind.PROPERTY if gives else Kind.STATEMENT
            self.found.add(kind, node, place, pieces, f"{shown(node)} is left out")
        return True

    def raised(self, node: Node, place: Place) -> None:
        """Another error, or one that tells something else, in the place of one that is thrown or panicked with."""
        if node.type == "throw_statement":
            changed, other = errors.thrown(node, self.helper)
            if changed:
                self.found.add(Kind.VALUE, node, place, changed, f"what {shown(node)} tells is changed")
        else:
            other = errors.panicked(node, "super::" * self.depth + self.helper, self.language)
        if other:
            what = f"another error stands in the place of {shown(node)}"
            self.found.add(Kind.OTHER_ERROR, node, place, other, what)

    def _can_be_left_out(self, node: Node, inner: Node) -> bool:
        block = node.parent
        above = block.type if block is not None else ""
        if errors.raises(node, self.language) and block is not None and self.is_of_function(block):
            return False  # a function that only raises does nothing without it: that is a site of its own
        match self.language:
            case Language.GO:
                return above == "statement_list"
            case Language.JAVA:
                return above != "switch_rule" and not self._gives_final(inner)
            case _:
                return text_of(node).endswith(";") and inner.type not in _NO_STATEMENTS

    def is_of_function(self, block: Node) -> bool:
        body = block.parent if block.type == "statement_list" else block
        if body is None or body.type not in _BLOCKS or body.parent is None:
            return False
        return body.parent.type in _FUNCTIONS and self._is_always_error(body)

    def _gives_final(self, node: Node) -> bool:
        """Whether a final field or variable of Java gets its value, without which nothing compiles."""
        name = re.escape(named(node, "left").rpartition(".")[2]) if named(node, "operator") == "=" else ""
        return bool(name) and re.search(rf"\bfinal\b[^;=(){{}}]*\b{name}\s*[;=,]", self.found.text) is not None

    def _comparison(self, node: Node, place: Place) -> None:
        operator = field(node, "operator")
        word = text_of(operator) if operator is not None else ""
        if operator is not None and word in FLIPPED:
            piece = instead(operator, FLIPPED[word])
            self.found.add(Kind.COMPARISON, node, place, [piece], f"`{word}` becomes `{FLIPPED[word]}`")

    def _turned(self, node: Node, place: Place) -> None:
        self.found.add(Kind.COMPARISON, node, place, around(node, "!(", ")"), f"{shown(node)} is turned round")

    def _condition(self, node: Node, place: Place) -> None:
        condition = field(node, "condition")
        inner = plain(condition) if condition is not None else None
        if inner is not None and inner.type in _BARE:
            self._turned(inner, place)


def _changed_constant(node: Node) -> Piece | None:
    text = text_of(node)
    above = node.parent.type if node.parent is not None else ""
    if text in ("true", "false"):
        return instead(node, "false" if text == "true" else "true")
    if node.type in _LETTERS:
        becomes = _next_letter(text, node.type)
        return instead(node, becomes) if becomes and not (becomes.startswith("(") and "pattern" in above) else None
    if node.type in _TEXTS:
        behind = len(text) - max(text.rfind('"'), text.rfind("`")) if not text.endswith('"""') else 3
        return node.end_byte - behind, node.end_byte - behind, "x"
    digits = _SUFFIX.fullmatch(text)
    more = one_more(digits[1]) if digits is not None else None
    if digits is not None and more is not None and above != "field_expression":
        return instead(node, more + (digits[2] or ""))
    change = "^ 1" if text[:2].lower() in ("0x", "0b", "0o") else "+ 1"  # which never is too large
    return None if "pattern" in above or above == "field_expression" else instead(node, f"({text} {change})")


def _next_letter(text: str, kind: str) -> str | None:
    """The letter behind this one, so that different letters stay different."""
    letter = _LETTER.fullmatch(text)
    if letter is not None:
        behind = chr(ord(letter[2]) + 1)
        return f"{letter[1]}'{chr(92) * (behind in _QUOTED)}{behind}'"
    return {"rune_literal": f"({text} + 1)", "character_literal": f"(char) ({text} + 1)"}.get(kind)


def _given_back(node: Node, ends: str) -> Iterator[Node]:
    """The `return`s of a function, by its body; not those of functions within."""
    for child in children(node):
        if child.type in _WITHIN or child.type in _FUNCTIONS:
            continue
        if child.type == ends:
            yield child
        yield from _given_back(child, ends)


def _go_results(function: Node) -> tuple[list[str], list[str]]:
    """The types that a function of Go returns, and their names if they have any."""
    result = field(function, "result")
    if result is None:
        return [], []
    if result.type != "parameter_list":
        return [text_of(result)], []
    types, names = [], []
    for given in children(result):
        called = [text_of(each) for each in given.children_by_field_name("name")]
        types += [named(given, "type")] * max(1, len(called))
        names += called
    return types, names


def _go_value(function: Node, body: Node, helper: str) -> Iterator[Piece]:
    types, names = _go_results(function)
    given = field(function, "parameters")
    is_open = named(function, "name") in _COMPARING and given is not None and _ANYTHING.search(text_of(given))
    if not types or is_open or not any(map(_changes_in_go, types)):
        return
    results, me = [f"{helper}{at}" for at in range(len(types))], named(function, "receiver").strip("()").split(" ")[0]
    condition = _go_condition(function, results[0], helper) if types == ["bool"] else ""
    end = " }" if condition else ""
    shape = ", ".join(f"{name} {kind}" for name, kind in zip(results, types, strict=True))
    assigned, pointers = ", ".join(results), ", ".join(f"&{name}" for name in results)
    for each in _given_back(body, "return_statement"):
        values = children(each)
        if not values and names and "_" not in names:
            pointing = ", ".join(f"&{name}" for name in names)
            yield from around(each, f"{helper}({pointing}); ", "")
            continue
        of_each = children(values[0]) if values else []
        of_each = of_each * len(types) if len(of_each) == 1 else of_each  # one call may give them all
        if any(_changes_in_go(kind, text_of(value), me) for value, kind in zip(of_each, types, strict=False)):
            yield from around(
                values[0], f"func() ({shape}) {{ {assigned} = ", f"; {condition}{helper}({pointers}){end}; return }}()"
            )


def _changes_in_go(kind: str, given: str = "?", me: str = "") -> bool:
    """Whether the helper of Go can change it, by its type; not what a method got, which others know, and gives back."""
    is_fixed = kind.startswith(("func", "chan", "<-")) or (kind.startswith("*") and ("." in kind or given == me))
    return given != "nil" and not is_fixed


def _go_condition(function: Node, result: str, helper: str) -> str:
    """For `func (a T) Equal(b T) bool`: whether it would answer otherwise of something else."""
    receiver, given = named(function, "receiver").strip("()").split(), field(function, "parameters")
    other = text_of(given).strip("()").split() if given is not None else []
    if named(function, "name") not in _EQUALITY or len(receiver) != 2 or len(other) != 2 or receiver[1] != other[1]:
        return ""
    again = f"func(x interface{{}}) bool {{ return {receiver[0]}.{named(function, 'name')}(x.({other[1]})) }}"
    return f"if {helper}Tells({result}, {other[0]}, {again}) {{ "


def _java_value(method: Node, body: Node, helper: str) -> Iterator[Piece]:
    if named(method, "type") in ("", "void", "byte", "short", "char"):
        return
    change, condition = "of", ""
    given = field(method, "parameters")
    if named(method, "name") in _COMPARING and given is not None and len(children(given)) == 1:
        other = named(children(given)[0], "name")
        condition = f", {other} != null && {other}.getClass() == getClass()"
        if named(method, "name") == "equals" and named(method, "type") == "boolean":
            change, condition = "equal", f", this, {other}"
    for each in _given_back(body, "return_statement"):
        values = children(each)
        if values and values[0].type not in ("null_literal", "this"):
            yield from around(values[0], f"{helper}.{change}(", f"{condition})")


def _rust_value(function: Node, body: Node, helper: str) -> Iterator[Piece]:
    """Of a list of what cannot be perturbed, or of what may be nothing, there is one less."""
    result = field(function, "return_type")
    if result is None or _is_constant(function):
        return
    change = "of" if _is_known(result) else "fewer"
    for value in _rust_ends(body) if change == "of" or named(result, "type") in ("Option", "Vec") else ():
        yield from around(value, f"{helper}::{change}(", ")")


def _rust_ends(body: Node) -> list[Node]:
    """What a function of Rust comes to: what it returns, and what it ends with."""
    ends = [children(each)[0] for each in _given_back(body, "return_expression") if children(each)]
    last = children(body)[-1] if children(body) else None
    is_value = last is not None and _is_value(last) and not errors.raises(last, Language.RUST)
    return [*ends, last] if last is not None and is_value else ends


def _is_constant(function: Node) -> bool:
    return any(each.type == "function_modifiers" and "const" in text_of(each) for each in function.named_children)


def _is_value(last: Node) -> bool:
    """Whether the last of a block is what the block comes to."""
    if last.type == "expression_statement":
        return not text_of(last).endswith(";") and children(last)[0].type in ("if_expression", "match_expression")
    return last.type.endswith(_VALUE_ENDS)


def _is_known(kind: Node) -> bool:
    """Whether the helper of Rust can perturb a type."""
    given = field(kind, "type_arguments")
    match kind.type:
        case "primitive_type":
            return text_of(kind) != "str"
        case "type_identifier":
            return text_of(kind) == "String"
        case "reference_type":
            return _STR.fullmatch(text_of(kind)) is not None
        case "tuple_type":
            return len(children(kind)) == 2 and all(_is_known(child) for child in children(kind))
        case "generic_type" if given is not None and named(kind, "type").rpartition("::")[2] in _KNOWN:
            return _is_known(next(child for child in children(given) if child.type != "lifetime"))
        case _:
            return False


def _nothing(function: Node, language: Language) -> str | None:
    """What an emptied function returns, with a blank in front; None where no such value is known."""
    if language is Language.GO:
        made = ", ".join(f"*new({kind})" for kind in _go_results(function)[0])
        return f" {made}" if made else ""
    if language is Language.JAVA:
        kind = named(function, "type")
        if kind in ("", "void"):
            return ""
        return " false" if kind == "boolean" else " 0" if kind in _NUMERIC else " null"
    result = field(function, "return_type")
    if result is None or _is_constant(function):
        return "" if result is None else None
    return " Default::default()" if _is_known(result) and "Result" not in text_of(result) else None
