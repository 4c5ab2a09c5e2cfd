"""Where JavaScript and TypeScript can be broken, and the text so broken. Tests made false: script_twins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.mutants import sites as shared
from agent_fox.verifier.mutants.helpers import perturbing
from agent_fox.verifier.mutants.script_twins import twin as twin
from agent_fox.verifier.mutants.sites import Kind, Piece, Site
from agent_fox.verifier.mutants.syntax import (
    FLIPPED,
    Found,
    Place,
    around,
    emptied,
    free_name,
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
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

FUNCTIONS = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
    }
)
_CLASSES = frozenset({"class_declaration", "class", "abstract_class_declaration"})
_FIELDS = frozenset({"field_definition", "public_field_definition", "enum_assignment"})
_NOTHING = frozenset(
    {
        "import_statement",
        "interface_declaration",
        "type_alias_declaration",
        "ambient_declaration",
        "function_signature",
        "abstract_method_signature",
        "method_signature",
        "index_signature",
        "type_annotation",
        "type_predicate_annotation",
        "asserts_annotation",
        "type_arguments",
        "type_parameters",
        "literal_type",
        "template_literal_type",
        "object_type",
        "implements_clause",
        "decorator",
    }
)
_CONSTANTS = frozenset({"number", "string", "template_string", "true", "false", "regex", "jsx_text"})
_CALLS = ("call_expression", "await_expression", "new_expression")
_MODIFIERS = ("static", "accessibility_modifier", "override_modifier", "decorator")
_LONGEST_NAME = 60
_EFFECTS = ("assignment_expression", "augmented_assignment_expression", "update_expression")
_RUN_FOR_EFFECT = frozenset(
    {"forEach", "on", "once", "addEventListener", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"}
    | {"nextTick"}
)
_COMPARING = frozenset({"equals", "isEqual", "isEqualTo", "compareTo", "eq"})
_MATCHER = "$$typeof"  # by it runners know an object that decides itself what it equals
_EQUALS_ANYTHING = "asymmetricMatch"  # called by runners: an object that equals everything must stay so
_ASKED = frozenset(
    {"includes", "has", "contains", "startsWith", "endsWith", "match", "matches", "test", "some", "every"}
    | {"[Symbol.hasInstance]"}
)
"""What tests ask texts, collections and classes: one that says yes to everything must go on to do so."""
_ENCODINGS = frozenset({"utf-8", "utf8", "ascii", "latin1", "binary", "base64", "base64url", "hex", "ucs2", "utf16le"})
_HELPER = "perturbed"
_REJECTING = frozenset({"Promise.reject", "reject"})
_LOGS = frozenset({"log", "logger", "logging", "debug"})
_IS_STARTED = regex(r"\brequire\.main\b|\bimport\.meta\b")
_SUPER = regex(r"\bsuper\s*\(")
_ERRORS = regex(r"(?:Error|Exception|^Object)$")
_EXPORTS = regex(r"(?:module\.)?exports\b|Object\.defineProperty\(exports\b")
_EXPORTS_DOT = regex(r"^(?:module\.)?exports(?:\.|$)|^default$")
_NO_EXPRESSION = regex(r"(?:async\s+)?function\b|class\b|\{")


def sites(text: str, language: Language) -> tuple[Site, ...]:
    """All sites, in the order of the text. Raises Unreadable."""
    reader = _Reader(Found(text), free_name(text, _HELPER))
    reader.visit(tree(text, language), Place())
    return reader.found.in_order()


def broken(text: str, chosen: Iterable[Site], language: Language) -> str:
    """The text with all chosen sites broken. TypeScript's type check is turned off by a first line."""
    name, changed = free_name(text, _HELPER), shared.broken(text, chosen)
    if name in changed:
        changed = changed.removesuffix("\n") + "\n" + perturbing(name, language)
    if language is Language.JAVASCRIPT:
        return changed
    shebang, line, rest = changed.partition("\n") if changed.startswith("#!") else ("", "", changed)
    return f"{shebang}{line}// @ts-nocheck\n{rest}"


@dataclass(slots=True)
class _Reader:
    found: Found
    helper: str

    def visit(self, node: Node, place: Place, hint: str = "") -> None:
        """Finds the sites of a node and of all below it. hint: the name that it is given."""
        kind = node.type
        if kind in _NOTHING or (kind == "export_statement" and field(node, "source") is not None):
            return
        if kind in FUNCTIONS:
            self._function(node, place, hint)
        elif kind in _CLASSES:
            self._class(node, place, hint)
        elif kind in _CONSTANTS:
            self._constant(node, place)
        elif kind == "expression_statement":
            self._statement(node, place)
        else:
            self._other(node, place, hint)

    def _other(self, node: Node, place: Place, hint: str) -> None:
        match node.type:
            case "binary_expression":
                self._comparison(node, place)
            case "unary_expression":
                self._negation(node, place)
            case "if_statement" | "ternary_expression":
                if not self._condition(node, place):
                    return self._below(node, place, but=field(node, "condition"))
            case "throw_statement":
                self.raised(node, children(node)[0], place)
                kind = Kind.ONLY_ERROR if is_only_error(node) else Kind.STATEMENT
                self._left_out(node, place, ";", kind)
            case "return_statement":
                self.found.add(Kind.EMPTIED, node, place, [instead(node, ";")], f"{shown(node)} is left out")
            case "call_expression" if _is_import(node):
                return None
            case "call_expression" if named(node, "function") in _REJECTING:
                self.rejected(node, place)
            case "variable_declarator":
                return self._given(node, place, "name", "value")
            case "assignment_expression":
                return self._given(node, place, "left", "right")
            case "pair":
                return self._given(node, place, "key", "value")
            case "object" | "internal_module" | "enum_declaration":
                place = Place((*place.path, hint), place.owner, place.owner_line, place.owner_range) if hint else place
            case kind if kind in _FIELDS:
                return self._given(node, place, "property" if field(node, "property") is not None else "name", "value")
        return self._below(node, place)

    def _below(self, node: Node, place: Place, but: Node | None = None) -> None:
        for child in children(node):
            if child != but:
                self.visit(child, place)

    def _given(self, node: Node, place: Place, to: str, what: str) -> None:
        """Something is given a name: by a declaration, an assignment, in an object."""
        target, value = field(node, to), field(node, what)
        if target is not None and text_of(target) == _MATCHER:
            return
        if target is not None and target.type not in ("string", "number"):
            self.visit(target, place)
        if value is not None:
            self.visit(value, place, _name_of(target) if target is not None else "")

    # functions and classes

    def _function(self, node: Node, place: Place, hint: str) -> None:
        name = named(node, "name") or hint or "<anonymous>"
        body = field(node, "body")
        if name == _EQUALS_ANYTHING or body is None or (name in _ASKED and _is_always_true(body)):
            return
        inner = self.found.function(node, place, name, _start(node))
        for given in (field(node, "parameters"), field(node, "parameter")):
            if given is not None:
                self.visit(given, inner)
        if name != "constructor" and not _has(node, "set"):
            self._value(body, inner, self._before(node, name))
        if _compares(node, name):
            return
        self._emptied(body, inner)
        if body.type == "statement_block":
            self._below(body, inner)
        else:
            self._expression_body(body, inner)

    def _before(self, node: Node, name: str) -> str:
        """What is written before a returned value; a comparison is perturbed between two objects of a class only."""
        if not _compares(node, name):
            return f"{self.helper}("
        given = field(node, "parameters")
        names = (
            [child for child in children(given) if child.type in ("identifier", "required_parameter")] if given else []
        )
        other = (named(names[0], "pattern") or text_of(names[0])) if names else "arguments[0]"
        return f"((x) => {self.helper}(x, 0, [this, {other}, {name!r}]))("

    def _value(self, body: Node, place: Place, before: str) -> None:
        """One site for all that a function returns and yields."""
        given = list(_returned(body))
        pieces = [
            piece
            for each in given
            for piece in (
                around(each, before + "(", "))") if each.type == "sequence_expression" else around(each, before, ")")
            )
        ]
        if pieces:
            self.found.add(Kind.VALUE, given[0], place, pieces, f"the value that {place.owner} returns is changed")

    def _emptied(self, body: Node, place: Place) -> None:
        what = f"{place.owner} does nothing"
        if body.type != "statement_block":
            self.found.add(Kind.EMPTIED, body, place, [instead(body, "void 0")], what)
            return
        calls_above = next((child for child in children(body) if _SUPER.match(text_of(child))), None)
        pieces = emptied(body, calls_above)
        if pieces and (calls_above is not None or not _SUPER.search(text_of(body))):
            self.found.add(Kind.EMPTIED, body, place, pieces, what)

    def _expression_body(self, body: Node, place: Place) -> None:
        is_run = body.parent is not None and _is_run_for_effect(body.parent)
        if body.type in _EFFECTS or (is_run and body.type in _CALLS):
            self._left_out(body, place, "void 0")
        self.visit(body, place)

    def _class(self, node: Node, place: Place, hint: str) -> None:
        heritage = next((each for each in node.named_children if each.type == "class_heritage"), None)
        body = field(node, "body")
        if heritage is not None and body is not None:
            self._base(heritage, body)
            self._below(heritage, place)
        if body is not None:
            self._below(body, place.inside(named(node, "name") or hint))

    def _base(self, heritage: Node, body: Node) -> None:
        clause = children(heritage)[0]
        base = clause if clause.type != "extends_clause" else children(clause)[0]
        before = heritage.prev_sibling
        is_plain = clause.type not in ("implements_clause",) and not _ERRORS.search(text_of(base))
        if before is None or not is_plain or _SUPER.search(text_of(body)):
            return
        end = clause.end_byte
        self.found.add(
            Kind.BASE, heritage, Place(), [(before.end_byte, end, "")], f"the base class {shown(base)} is dropped"
        )

    # what stands in a body

    def _constant(self, node: Node, place: Place) -> None:
        piece = _changed_constant(node)
        if piece is not None:
            self.found.add(place.kind, node, place, [piece], f"{shown(node)} is changed")

    def _statement(self, node: Node, place: Place) -> None:
        inner = children(node)[0] if children(node) else node
        root = _root_of(inner)
        if inner.type == "string" or (root.type == "identifier" and text_of(root) in _LOGS):
            return
        is_definition = inner.type == "internal_module" or _is_definition(inner, bool(place.owner))
        if not is_definition and root.type not in FUNCTIONS and not _is_import(inner) and root.type != "super":
            gives = inner.type == "assignment_expression" and named(inner, "left").startswith("this.")
            self._left_out(node, place, ";", Kind.PROPERTY if gives else Kind.STATEMENT)
        self.visit(inner, place)

    def _left_out(self, node: Node, place: Place, becomes: str, kind: Kind = Kind.STATEMENT) -> None:
        self.found.add(kind, node, place, [instead(node, becomes)], f"{shown(node)} is left out")

    def raised(self, node: Node, error: Node, place: Place) -> None:
        """An error that is thrown, or with which a promise is rejected."""
        changed, other = (around(error, f"{self.helper}(", f", 0, '{how}')") for how in ("told", "another"))
        self.found.add(Kind.VALUE, node, place, changed, f"what {shown(node)} tells is changed")
        what = f"another error stands in the place of {shown(node)}"
        self.found.add(Kind.OTHER_ERROR, node, place, other, what)

    def rejected(self, node: Node, place: Place) -> None:
        given = field(node, "arguments")
        if given is not None and len(children(given)) == 1:
            self.raised(node, children(given)[0], place)

    def _comparison(self, node: Node, place: Place) -> None:
        operator = field(node, "operator")
        word = text_of(operator) if operator is not None else ""
        if operator is not None and word in FLIPPED:
            piece = instead(operator, FLIPPED[word])
            self.found.add(Kind.COMPARISON, node, place, [piece], f"`{word}` becomes `{FLIPPED[word]}`")
        elif word in ("in", "instanceof"):
            self._turned(node, place)

    def _turned(self, node: Node, place: Place) -> None:
        self.found.add(Kind.COMPARISON, node, place, around(node, "!(", ")"), f"{shown(node)} is turned round")

    def _negation(self, node: Node, place: Place) -> None:
        argument = field(node, "argument")
        if argument is None or not text_of(node).startswith("!") or _NO_EXPRESSION.match(text_of(argument)):
            return
        before = self.found.text.encode()[max(0, node.start_byte - 1) : node.start_byte].decode("utf-8", "replace")
        becomes = " " if before.isalnum() or before in ("_", "$", "+", "-") else ""
        piece = (node.start_byte, argument.start_byte, becomes)
        self.found.add(Kind.COMPARISON, node, place, [piece], f"`!` of {shown(node)} is left out")

    def _condition(self, node: Node, place: Place) -> bool:
        """Turns a bare condition round. Returns False for one that asks whether the file was started: no site."""
        condition = field(node, "condition")
        inner = plain(condition) if condition is not None else None
        if inner is None or _IS_STARTED.search(text_of(inner)):
            return inner is None
        operator = named(inner, "operator")
        is_seen = operator in FLIPPED or operator in ("!", "in", "instanceof") or inner.type in ("true", "false")
        if not is_seen:
            self._turned(inner, place)
        return True


def _compares(node: Node, name: str) -> bool:
    """Whether it is a method that compares its object with another: nothing of it is broken but what it says of two."""
    return name in _COMPARING and node.type == "method_definition" and not _has(node, "static")


def _is_always_true(body: Node) -> bool:
    if body.type != "statement_block":
        return body.type == "true"
    parts = children(body)
    return (
        len(parts) == 1
        and parts[0].type == "return_statement"
        and [child.type for child in children(parts[0])] == ["true"]
    )


def is_only_error(thrown: Node) -> bool:
    """Whether a function always comes to this `throw`: there is no way out before it."""
    body = thrown.parent
    is_last = body is not None and body.parent is not None and body.parent.type in FUNCTIONS
    return is_last and body is not None and children(body)[-1] == thrown and not any(_ends(body))


def _ends(node: Node) -> Iterator[Node]:
    for child in children(node):
        if child.type in ("return_statement", "yield_expression"):
            yield child
        elif child.type not in FUNCTIONS and child.type not in _CLASSES:
            yield from _ends(child)


def _has(node: Node, word: str) -> bool:
    return any(child.type == word for child in node.children if not child.is_named)


def _start(node: Node) -> int:
    """Where V8 takes a function to start: `static` and what TypeScript adds are not part of a method."""
    words = (child for child in node.children if child.type not in _MODIFIERS)
    return next(words, node).start_byte


def _name_of(target: Node) -> str:
    """What a function is called that is given to this; nothing for `module.exports`."""
    text = text_of(target).strip("'\"").replace(".prototype.", ".")
    return _EXPORTS_DOT.sub("", text) if len(text) <= _LONGEST_NAME else ""


def _returned(node: Node) -> Iterator[Node]:
    """What a function returns or yields, by its body."""
    if node.type != "statement_block":
        if _is_something(node) and node.type not in _EFFECTS:
            yield node
        return
    yield from _given_back(node)


def _given_back(node: Node) -> Iterator[Node]:
    for child in children(node):
        if child.type in FUNCTIONS or child.type in _CLASSES:
            continue
        if child.type in ("return_statement", "yield_expression") and children(child):
            value = children(child)[0]
            if _is_something(value):
                yield value
        yield from _given_back(child)


def _is_something(value: Node) -> bool:
    return value.type not in ("undefined", "null") and named(value, "operator") != "void"


def _is_import(node: Node) -> bool:
    callee = field(node, "function") if node.type == "call_expression" else None
    return callee is not None and (callee.type == "import" or text_of(callee).startswith("require"))


def _is_run_for_effect(arrow: Node) -> bool:
    """Whether a function is given to what does not look at its value: forEach and the like, `onClick={…}`."""
    call = arrow.parent.parent if arrow.parent is not None else None
    if call is not None and call.type == "jsx_attribute":
        return text_of(call).startswith("on")
    callee = named(call, "function") if call is not None and call.type == "call_expression" else ""
    return callee.rpartition(".")[2] in _RUN_FOR_EFFECT


def _root_of(node: Node) -> Node:
    """What an expression's calls and members start from: `log` of `log.child().info()`."""
    node = plain(node)
    for name in ("function", "object"):
        inner = field(node, name) if node.type not in FUNCTIONS else None
        if inner is not None:
            return _root_of(inner)
    if node.type == "await_expression" and children(node):
        return _root_of(children(node)[0])
    return node


def _is_definition(node: Node, is_in_function: bool) -> bool:
    if _EXPORTS.match(text_of(node)):
        return True
    value = field(node, "right") if node.type == "assignment_expression" else None
    return value is not None and not is_in_function and (value.type in FUNCTIONS or value.type in _CLASSES)


def _changed_constant(node: Node) -> Piece | None:
    text = text_of(node)
    match node.type:
        case "true" | "false":
            return instead(node, "false" if text == "true" else "true")
        case "number":
            more = one_more(text.removesuffix("n"))
            return instead(node, more + "n" * text.endswith("n") if more is not None else f"({text} + 1)")
        case "regex":
            pattern = named(node, "pattern")
            return instead(node, f"/(?!)(?:{pattern})/{named(node, 'flags')}")
        case "jsx_text":
            return (node.end_byte, node.end_byte, "x") if text.strip() else None
        case _:
            is_kept = text[1:-1].lower() in _ENCODINGS or "typeof" in _compared_with(node)
            return None if is_kept else (node.end_byte - 1, node.end_byte - 1, "x")


def _compared_with(node: Node) -> str:
    above = node.parent
    return text_of(above)[:500] if above is not None and above.type == "binary_expression" else ""
