"""What can be broken of a Python text, what the broken text then does when it is executed, and the twin of a test."""

from __future__ import annotations

import ast
import asyncio
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from agent_fox.verifier.mutants.python_sites import broken, sites, twin
from agent_fox.verifier.mutants.python_twin import asserted, is_passed_by, is_sheltered, restated, turned, twins
from agent_fox.verifier.mutants.sites import Kind, Site, Unreadable
from agent_fox.verifier.mutants.sites import broken as broken_without_helper

PACKAGE = Path(__file__).parents[3] / "agent_fox"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.stat().st_size < 10_000)
SAMPLE = FILES[:: max(1, len(FILES) // 60)]
MARK = "twin 0123"

World = dict[str, Any]


def executed(text: str, name: str = "product") -> World:
    world: World = {"__name__": name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, "product.py", "exec", dont_inherit=True), world)
    return world


def kinds(text: str, *wanted: Kind) -> list[Site]:
    return [site for site in sites(dedent(text)) if site.kind in wanted]


def each_broken(text: str, *wanted: Kind) -> list[str]:
    """The text once for each site of these kinds; the helper's line, which only VALUE needs, is not in it."""
    return [broken(dedent(text), [site]) for site in kinds(text, *wanted)]


def changed_lines(text: str, *wanted: Kind) -> list[str]:
    """Of each site alone: the line that it changes, as it is then."""
    before = dedent(text).split("\n")
    found = []
    for after in each_broken(text, *wanted):
        lines = after.split("\n")
        assert len(lines) == len(before)
        found += [line.strip() for line, old in zip(lines, before, strict=True) if line != old]
    return found


def with_values_changed(text: str, owner: str | None = None) -> World:
    text = dedent(text)
    chosen = [site for site in kinds(text, Kind.VALUE) if owner in (None, site.owner)]
    assert chosen
    return executed(broken(text, chosen))


def call(world: World, name: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever the product returns
    return world[name](*arguments)


def value_of(expression: str, setup: str = "") -> Any:  # noqa: ANN401 - as above
    """What a function that returns this expression returns when its value is changed."""
    return call(with_values_changed(f"{dedent(setup)}\ndef f():\n    return {expression}\n", "f"), "f")


def statements(text: str) -> list[str]:
    """Those of a module, each as a text of its own."""
    lines = text.splitlines(keepends=True)
    starts = [min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]) for n in ast.parse(text).body]
    ends = [start - 1 for start in starts[1:]] + [len(lines)]
    return ["".join(lines[start - 1 : end]) for start, end in zip(starts, ends, strict=True)]


def compiled(*texts: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        for text in texts:
            compile(text, "product.py", "exec", dont_inherit=True)


class TestWhatIsASite:
    def test_a_function_has_one_value_site_with_all_that_it_returns_and_yields(self) -> None:
        text = """
            class Basket:
                @property
                @staticmethod
                def total(a):
                    if a:
                        return 1
                    if a is None:
                        return None
                    return (yield a), 2
        """
        (site,) = kinds(text, Kind.VALUE)
        assert (site.owner, site.owner_line, site.line, site.end_line) == ("Basket.total", 3, 7, 10)
        assert len(site.pieces) == 6
        assert site.what == "the value that Basket.total returns is changed"

    def test_a_function_that_returns_nothing_has_no_value_site(self) -> None:
        assert not kinds("def f():\n    if g():\n        return\n    return None\n", Kind.VALUE)
        assert not kinds("def f(self):\n    return NotImplemented\n", Kind.VALUE)
        assert not kinds("def f():\n    yield\n", Kind.VALUE)

    def test_a_lambda_and_a_nested_function_own_what_stands_in_them(self) -> None:
        text = "def f():\n    def g():\n        return 7\n    return [g,\n        lambda x: x < 8]\n"
        owners = [(site.owner, site.owner_line) for site in kinds(text, Kind.VALUE, Kind.CONSTANT, Kind.COMPARISON)]
        assert sorted(set(owners)) == [("f", 1), ("f.<lambda>", 5), ("f.g", 2)]

    def test_statements_that_can_be_left_out(self) -> None:
        text = """
            def f(self, x, d):
                send(x)
                y = x
                y = y.strip()
                x = y
                x += y
                self.y = y
                d[y], self.z = x, y
                del d[y]
                if y: raise ValueError(y)
                z: int = y
                self.w: int = y
                for line in d:
                    line = line + y
                    new = line
                await_(y); send(y)
        """
        site_lines = [
            (site.line, site.what) for site in kinds(text, Kind.STATEMENT, Kind.PROPERTY) if "left out" in site.what
        ]
        assert site_lines == [
            (3, "`send(x)` is left out"),
            (5, "`y = y.strip()` is left out"),
            (6, "`x = y` is left out"),
            (7, "`x += y` is left out"),
            (8, "`self.y = y` is left out"),
            (9, "`d[y], self.z = x, y` is left out"),
            (10, "`del d[y]` is left out"),
            (11, "`raise ValueError(y)` is left out"),
            (13, "`self.w: int = y` is left out"),
            (15, "`line = line + y` is left out"),
            (17, "`await_(y)` is left out"),
            (17, "`send(y)` is left out"),
        ]
        assert "pass; send(y)" in changed_lines(text, Kind.STATEMENT)

    def test_what_an_attribute_is_given_is_changed_or_left_out_but_not_left_out_of_a_new_object(self) -> None:
        text = """
            class Stock:
                def __init__(self, left, more):
                    self.left = left
                    self.kept, self.n = list(more), 1
                    self.left = sorted(self.left)
                    self.left += more

                def take(self, name):
                    self.last = name
                    self.n = 2
        """
        assert [(site.line, site.kind, site.what) for site in kinds(text, *Kind) if site.kind is not Kind.EMPTIED] == [
            (4, Kind.PROPERTY, "`self.left = left` is changed"),
            (5, Kind.CONSTANT, "`1` becomes `2`"),
            (6, Kind.PROPERTY, "`self.left = sorted(self.left)` is left out"),
            (6, Kind.PROPERTY, "`self.left = sorted(self.left)` is changed"),
            (7, Kind.STATEMENT, "`self.left += more` is left out"),
            (10, Kind.PROPERTY, "`self.last = name` is left out"),
            (10, Kind.PROPERTY, "`self.last = name` is changed"),
            (11, Kind.PROPERTY, "`self.n = 2` is left out"),
            (11, Kind.CONSTANT, "`2` becomes `3`"),
        ]

    @pytest.mark.parametrize("value", ["[]", "{}", "None", "int", "object()", "''", "[1]", "{'a': 1}", "1.5", "print"])
    def test_what_an_attribute_is_given_is_never_what_it_was(self, value: str) -> None:
        text = f"class A:\n    def __init__(self, value): self.value = value\nwas = {value}\nnow = A(was).value\n"
        world = executed(broken(text, kinds(text, Kind.PROPERTY)))
        assert world["now"] != world["was"]

    def test_what_is_called_is_given_as_another_that_can_be_called(self) -> None:
        calls = "class Calls(list):\n    def __call__(self, name): self.append(name)\n"
        text = f"{calls}class A:\n    def __init__(self, call): self.call = call\nwas = Calls()\nA(was).call(1)\n"
        world = executed(broken(text, [site for site in kinds(text, Kind.PROPERTY) if site.line > 3]))
        assert world["was"] == []

    def test_which_fields_a_data_class_compares_is_no_site_and_its_order_is_one(self) -> None:
        text = """
            @dataclass(eq=True, order=True)
            class Point:
                x: int = field(default=1, compare=False)
        """
        assert [site.what for site in kinds(text, Kind.BODY)] == ["`True` becomes `False`", "`1` becomes `2`"]

    def test_the_code_that_is_still_to_be_written_is_a_kind_of_its_own(self) -> None:
        text = "def f():\n    raise NotImplementedError('later')\ndef g(a):\n    if a: raise NotImplementedError\n"
        assert [(site.owner, site.kind) for site in sites(text) if site.kind is not Kind.EMPTIED] == [
            ("f", Kind.UNWRITTEN),
            ("g", Kind.STATEMENT),
            ("g", Kind.OTHER_ERROR),
        ]

    def test_the_error_that_a_function_always_comes_to_is_told_from_others(self) -> None:
        text = """
            def always(a):
                print(a)
                raise KeyError(a)
            def late(a):
                if a: return
                raise KeyError(a)
            def each(a):
                yield a
                raise KeyError(a)
            def again(a):
                try: always(a)
                except KeyError: raise
        """
        assert [site.owner for site in kinds(text, Kind.ONLY_ERROR)] == ["always"]
        assert [site.owner for site in kinds(text, Kind.OTHER_ERROR)] == ["always", "late", "each"]
        assert "`raise KeyError(a)` is left out" in [site.what for site in kinds(text, Kind.STATEMENT)]

    def test_another_error_is_of_a_class_that_nothing_knows_and_tells_the_same(self) -> None:
        text = """
            def made(a):
                raise ValueError(a, 3)
            def named(a):
                raise KeyError
            def kept(a):
                raise a
        """
        world = executed(broken(dedent(text), kinds(text, Kind.OTHER_ERROR)))
        for name, args in (("made", (KeyError, 3)), ("named", ()), ("kept", ())):
            try:
                call(world, name, KeyError)
            except Exception as error:  # noqa: BLE001 - of a class that has no name here
                got = type(error).__name__, error.args
            assert got == ("Another", args)

    def test_a_name_that_is_bound_in_one_branch_only_is_not_bound_before(self) -> None:
        assert not kinds("def f(a):\n    if a:\n        x = a\n    else:\n        x = a.b\n    x = a\n", Kind.STATEMENT)
        assert kinds("def f(a):\n    with a:\n        x = a\n    x = a.b\n", Kind.STATEMENT)

    def test_comparisons_are_turned_round(self) -> None:
        text = """
            def f(a, b):
                g(a == b)
                g(a < b <= 3 != a)
                g((a) is  (b))
                g(a is not b)
                g(a not  in(b))
                g(a and (b or a) and b)
                g(not a)
                g(not(a) or b)
        """
        assert changed_lines(text, Kind.COMPARISON) == [
            "g(a != b)",
            "g(a >= b <= 3 != a)",
            "g(a < b > 3 != a)",
            "g(a < b <= 3 == a)",
            "g((a) is not  (b))",
            "g(a is b)",
            "g(a in(b))",
            "g(a or (b or a) or b)",
            "g(a and (b and a) and b)",
            "g(( a))",
            "g(((a)) or b)",
            "g(not(a) and b)",
        ]

    def test_a_comment_between_two_operands_is_no_operator(self) -> None:
        after = each_broken("def f(a, b):\n    return (a  # is it < or\n        == b)\n", Kind.COMPARISON)
        assert after == ["def f(a, b):\n    return (a  # is it < or\n        != b)\n"]

    def test_constants(self) -> None:
        text = '''
            def f(a=1, *, b="é"):
                """No."""
                g(0, -1, 1.5, 0x10, 2j)
                g("", b"a", r"\\d", """é
                """, 'a' "b")
                g(f"é{a}ü{b:>10}", f"{a}" "c")
                g({"key": [True, (None, ...)]})
        '''
        assert changed_lines(text, Kind.CONSTANT) == [
            'def f(a=2, *, b="é"):',
            'def f(a=1, *, b="éx"):',
            "g(1, -1, 1.5, 0x10, 2j)",
            "g(0, -2, 1.5, 0x10, 2j)",
            "g(0, -1, 2.5, 0x10, 2j)",
            "g(0, -1, 1.5, 17, 2j)",
            "g(0, -1, 1.5, 0x10, 3.0j)",
            'g("x", b"a", r"\\d", """é',
            'g("", b"ax", r"\\d", """é',
            'g("", b"a", r"\\dx", """é',
            'x""", \'a\' "b")',
            '""", \'a\' "bx")',
            'g(f"é{a}ü{b:>10}x", f"{a}" "c")',
            'g(f"é{a}ü{b:>10}", f"{a}" "cx")',
            'g({"keyx": [True, (None, ...)]})',
            'g({"key": [False, (None, ...)]})',
        ]
        default = kinds(text, Kind.CONSTANT)[0]
        assert (default.owner, default.owner_line, default.what) == ("f", 2, "`1` becomes `2`")

    def test_what_is_written_in_braces_of_an_f_string(self) -> None:
        text = "def f(a):\n    return f'ü{a + 1:>{3}} {a == 2!r}' f\"{a['k']}\"\n"
        assert changed_lines(text, Kind.COMPARISON, Kind.CONSTANT) == [
            "return f'ü{a + 2:>{3}} {a == 2!r}' f\"{a['k']}\"",
            "return f'ü{a + 1:>{3}} {a != 2!r}' f\"{a['k']}\"",
            "return f'ü{a + 1:>{3}} {a == 3!r}' f\"{a['k']}\"",
            "return f'ü{a + 1:>{3}} {a == 2!r}' f\"{a['kx']}\"",
            "return f'ü{a + 1:>{3}} {a == 2!r}' f\"{a['k']}x\"",
        ]

    def test_bodies_of_modules_and_classes(self) -> None:
        text = """
            TAX = 0.19
            RATES = {"de": TAX}

            @app.get("/greet")
            class Basket(Kept, Listed, metaclass=Meta):
                size: int = 3

                class Inner(Base,):
                    pass
        """
        assert changed_lines(text, Kind.BODY, Kind.BASE) == [
            "TAX = 1.19",
            'RATES = {"dex": TAX}',
            '@app.get("/greetx")',
            "class Basket(Listed, metaclass=Meta):",
            "size: int = 4",
            "class Inner():",
        ]

    @pytest.mark.parametrize(
        "base", ["object", "Protocol", "Protocol[T]", "abc.ABC", "Generic[T]", "Exception", "errors.BadError", "*bases"]
    )
    def test_a_base_that_is_not_dropped(self, base: str) -> None:
        assert not sites(f"class A({base}):\n    pass\n")

    def test_emptied_functions_and_returns(self) -> None:
        text = """
            def f(a):
                "Doc."
                if a: return
                while a:
                    return 1
                b = a
                return b

            def g(): return 1

            async def h():
                yield 1
                yield 2

            def nothing(): ...
        """
        after = each_broken(text, Kind.EMPTIED)
        assert [site.owner for site in kinds(text, Kind.EMPTIED)] == ["f", "f", "f", "f", "g", "h"]
        assert all(text.count("\n") == each.count("\n") for each in after)
        emptied = executed(after[0])
        assert call(emptied, "f", 3) is None
        assert emptied["f"].__doc__ == "Doc."
        assert call(executed(after[2]), "f", 0) == 0
        assert inspect.isasyncgenfunction(executed(after[5])["h"])

    @pytest.mark.parametrize(
        "text",
        [
            '"""Doc."""\nimport os, sys\nfrom a import b as c\n',
            'def f(a: "int" = None) -> Literal["x"]:\n    "Doc."\n    global g\n    a: "int"\n    pass\n',
            "if TYPE_CHECKING:\n    x = 1\n    f(2)\n",
            'if __name__ == "__main__":\n    pass\n',
            '__all__ = ["a"]\n__all__ += ["b"]\nclass A:\n    __slots__ = ("a",)\n',
            'log.info("a %s", 1)\nself._logger.debug("x")\nlogging.warning("y")\n',
            'T = TypeVar("T")\nx = cast("int", y)\nMode = Literal["a", 1]\nX: TypeAlias = "A"\n',
            "def f(a):\n    assert a == 1, 'b'\n",
            "class A:\n    def __hash__(self):\n        return hash(1)\n",
            "class A:\n    a: int\n    def f(self): pass\n",
        ],
    )
    def test_nothing_to_break(self, text: str) -> None:
        assert sites(text) == ()

    def test_arguments_that_are_no_matter_of_the_program(self) -> None:
        text = 'def f(a):\n    return a.read("utf-8", "Latin-1", encoding="x", errors="y"), g(end="", newline="")\n'
        assert not kinds(text, Kind.CONSTANT)

    def test_the_main_block_and_the_else_of_type_checking_are_code(self) -> None:
        assert kinds('if __name__ == "__main__":\n    main(3)\n', Kind.STATEMENT)
        assert kinds("if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 2\n", Kind.BODY)[0].line == 4

    def test_patterns(self) -> None:
        text = 'match x:\n    case {"k": 1} | -2 if x < 3:\n        pass\n    case "a" | True:\n        pass\n'
        assert changed_lines(text, Kind.BODY, Kind.COMPARISON) == [
            'case {"k": 2} | -2 if x < 3:',
            'case {"k": 1} | -3 if x < 3:',
            'case {"k": 1} | -2 if x >= 3:',
            'case {"k": 1} | -2 if x < 4:',
            'case "ax" | True:',
        ]

    def test_a_statement_of_several_lines_keeps_them(self) -> None:
        text = "def f():\n    g(\n        1,\n    ); h()\n    return k\n"
        assert each_broken(text, Kind.STATEMENT)[0] == "def f():\n    (\n\n); h()\n    return k\n"

    def test_a_yield_is_not_left_out(self) -> None:
        text = "def f(self):\n    self.a = yield 1\n    g((yield 2))\n"
        assert not kinds(text, Kind.STATEMENT)

    @pytest.mark.parametrize("text", ["def", "a\0b", "\udc00 = 1", "(" * 500 + ")" * 500, "a = " + "-" * 100_000 + "1"])
    def test_unreadable(self, text: str) -> None:
        with pytest.raises(Unreadable):
            sites(text)

    @pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
    def test_line_ends_and_a_byte_order_mark(self, newline: str) -> None:
        text = "\ufeff" + newline.join(["# ü\x0c\u2028", "s = 'ü\x0c', 1", "def f():", "    return 1", ""])
        after = broken(text, sites(text))
        assert after.count("\r") == text.count("\r")
        assert call(executed(after.removeprefix("\ufeff")), "f") != 1
        assert after.startswith("\ufeff")


class TestWhatPerturbingDoes:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("True", False),
            ("None if 1 else 2", None),
            ("...", ...),
            ("7", 8),
            ("0", 1),
            ("'a'", "xa"),
            ("''", "x"),
            ("b'a'", b"xa"),
            ("bytearray(b'a')", bytearray(b"ax")),
            ("[]", []),
            ("[1, 'a']", [2, "xa", "xa"]),
            ("[None]", [None, None]),
            ("(1, (2, None))", (2, (3, None))),
            ("{}", {}),
            ("{'a': 1, 'b': [2]}", {"a": 2, "b": [3, 3], "xb": [3, 3]}),
            ("{1, 2}", {2, 3}),
            ("{True, False}", {True}),
            ("frozenset({1})", frozenset({2})),
            ("range(2)", range(1, 3)),
            ("1, *[2]", (2, 3)),
            ("(yield_ := 4)", 5),
            ("len", len),
            ("int", int),
        ],
    )
    def test_plain_values(self, expression: str, value: object) -> None:
        assert value_of(f"({expression})") == value
        assert type(value_of(f"({expression})")) is type(value)

    @pytest.mark.parametrize(
        "expression",
        [
            "1.5", "1e300", "float('inf')", "-1.0", "2j", "Decimal('1.50')", "Decimal('1E+50')", "Fraction(1, 3)",
            "date(2020, 1, 2)", "datetime(2020, 1, 2, tzinfo=timezone.utc)", "datetime.max", "time(23, 59)",
            "timedelta(1)", "Path('a/b.txt')", "Path('/')", "PurePosixPath('.')", "UUID(int=7)", "Colour.RED",
            "Level.LOW", "Way.A", "Way.A | Way.B", "Word.A", "Point(1, 2)", "Pair(1, 'a')", "Plain(3)", "Frozen('a')",
            "Slotted(4)", "Text('a')", "Count(3)", "Items([1])", "Table(a=1)", "Some((1, 2))", "SimpleNamespace(a=1)",
            "ValueError('a', 1)", "Failed(3)", "OrderedDict(a=1)", "defaultdict(list, a=[1])", "Counter('aab')",
            "deque([1], 3)", "MappingProxyType({'a': 1})", "UserDict(a=1)", "{'a': 1}.keys()", "{'a': 1}.items()",
            "{'a': {Path('b'): [Frozen('a')]}}", "[[[[1]]]]", "CompletedProcess(['a'], 0, 'out')", "Box(Box(1))",
        ],
    )  # fmt: skip
    def test_values_keep_their_class_and_change(self, expression: str) -> None:
        setup = """
            from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
            from dataclasses import dataclass
            from datetime import date, datetime, time, timedelta, timezone
            from decimal import Decimal
            from enum import Enum, Flag, IntEnum
            from fractions import Fraction
            from pathlib import Path, PurePosixPath
            from subprocess import CompletedProcess
            from types import MappingProxyType, SimpleNamespace
            from typing import NamedTuple
            from uuid import UUID
            class Colour(Enum): RED = 1; BLUE = 2
            class Level(IntEnum): LOW = 1; HIGH = 2
            class Way(Flag): A = 1; B = 2
            class Word(str, Enum): A = 'a'; B = 'b'
            class Point(NamedTuple): x: int; y: int = 0
            Pair = namedtuple('Pair', 'a b')
            class Plain:
                def __init__(self, a): self.a = a
                def __eq__(self, other): return vars(self) == vars(other)
                __hash__ = None
            @dataclass(frozen=True)
            class Frozen: a: str
            class Slotted:
                __slots__ = ('__a',)
                def __init__(self, a): self.__a = a
                def __eq__(self, other): return self.__a == other.__a
            class Text(str):
                def __new__(cls, text): return super().__new__(cls, text)
            class Count(int): pass
            class Items(list): pass
            class Table(dict): pass
            class Some(tuple): pass
            class Failed(Exception):
                def __init__(self, code): super().__init__(f'code {code}'); self.code = code
            class Box:
                def __init__(self, a): self.a = a
                def __eq__(self, other): return self.a == other.a
        """
        world = with_values_changed(f"{dedent(setup)}\ndef f():\n    return {expression}\n", "f")
        namespace = dict(world)
        value = eval(expression, namespace)
        changed, again = call(world, "f"), call(world, "f")
        assert type(changed) is type(value)
        assert repr(changed) != repr(value) or changed != value
        if expression.startswith(("ValueError", "Failed", "CompletedProcess")):  # which equal themselves only
            assert repr(changed) == repr(again)
        else:
            assert changed == again
            assert changed != value

    def test_approximately_equal_numbers_are_not(self) -> None:
        assert value_of("123456789.0") != pytest.approx(123456789.0)

    def test_an_enumeration_of_one_stays(self) -> None:
        member = value_of("One.A", "import enum\nclass One(enum.Enum):\n    A = 1\n")
        assert str(member) == "One.A"

    def test_objects_without_an_equality_of_their_own_equal_themselves(self) -> None:
        text = (
            "class A:\n    def __init__(self): self.n = 1\n    def me(self): return self\na = A()\ndef f(): return a\n"
        )
        world = with_values_changed(text)
        changed = call(world, "f")
        assert changed is call(world, "f")
        assert changed is not world["a"]
        assert (changed.n, world["a"].n) == (2, 1)

    def test_what_is_done_to_an_object_between_two_calls_is_seen(self) -> None:
        world = with_values_changed("class A: n = 1\na = A()\na.m = 1\ndef f(): return a\n")
        call(world, "f")
        world["a"].m = 5
        assert call(world, "f").m == 6

    def test_functions_return_perturbed_values(self) -> None:
        setup = (
            "import functools\ndef g(a):\n    'Doc.'\n    return a\nclass A:\n    def m(self): return [1]\na = A()\n"
        )
        changed = value_of("g", setup)
        assert callable(changed)
        assert (changed(1), changed.__name__, changed.__doc__) == (2, "g", "Doc.")
        world = with_values_changed(f"{setup}def f(): return g, a.m, functools.partial(g, 1), lambda: 1\n", "f")
        function, method, partial, _ = values = call(world, "f")
        assert (function(1), method(), partial()) == (2, [2, 2], 2)
        assert call(world, "f")[:2] == values[:2]

    def test_a_coroutine_function_stays_one(self) -> None:
        changed = value_of("g", "async def g(a):\n    return a\n")
        assert inspect.iscoroutinefunction(changed)
        assert asyncio.run(changed(1)) == 2

    def test_generators_and_coroutines_stay_what_they_are(self) -> None:
        text = """
            async def answer(): return 1
            def coroutine(): return answer()
            def numbers():
                got = yield 1
                try:
                    yield got
                except KeyError:
                    yield "caught"
                return 9
            def generator(): return numbers()
            async def many():
                for n in (1, 2): yield n
            def asynchronous(): return many()
        """
        text = dedent(text)
        chosen = [s for s in kinds(text, Kind.VALUE) if s.owner in ("coroutine", "generator", "asynchronous")]
        world = executed(broken(text, chosen))

        async def collected() -> list[object]:
            return [each async for each in call(world, "asynchronous")]

        assert asyncio.run(call(world, "coroutine")) == 2
        assert asyncio.run(collected()) == [2, 3]
        generator = call(world, "generator")
        assert type(generator).__name__ == "generator"
        assert (next(generator), generator.send(5), generator.throw(KeyError("a"))) == (2, 6, "xthguac")
        with pytest.raises(StopIteration) as end:
            next(generator)
        assert end.value.value == 10

    def test_what_is_yielded_is_perturbed(self) -> None:
        text = "def f():\n    yield 1\n    a = yield 2, 3\n    yield\n    return 4\nasync def g():\n    yield 1\n"
        nested = with_values_changed("def f():\n    return (yield (yield 1))\n")
        assert list(call(nested, "f")) == [2, None]
        assert list(call(with_values_changed(text), "f")) == [2, (3, 4), None]

    @pytest.mark.parametrize(
        ("expression", "items"),
        [
            ("map(abs, [1])", [2]),
            ("filter(None, [1])", [2]),
            ("iter([1])", [2, 2]),
            ("iter((1,))", [2]),
            ("{1: 2}.values()", [3, 3]),
            ("(n for n in [1])", [2]),
        ],
    )
    def test_iterators(self, expression: str, items: list[int]) -> None:
        changed = value_of(expression)
        assert type(changed) is type(eval(expression))
        assert list(changed) == items

    def test_the_body_runs_once_and_an_error_passes_through(self) -> None:
        text = "seen = []\ndef f(a):\n    return seen.append(a) or a[0]\n"
        world = with_values_changed(text)
        assert (call(world, "f", [1]), world["seen"]) == (2, [[1]])
        with pytest.raises(IndexError):
            call(world, "f", [])

    def test_what_cannot_be_perturbed_is_returned_as_it_is(self) -> None:
        setup = """
            import threading
            class Odd:
                def __init__(self): self.n = 1
                def __getattribute__(self, name): raise SystemError(name)
            class Closing:
                def __init__(self): self.n = 1
                def __del__(self): pass
            odd, closing, lock, file = Odd(), Closing(), threading.Lock(), open(__import__('os').devnull)
        """
        for name in ("odd", "closing", "lock", "file", "threading"):
            world = with_values_changed(f"{dedent(setup)}\ndef f(): return {name}\n", "f")
            assert type(call(world, "f")) is type(world[name])
            assert name == "odd" or call(world, "f") is world[name]

    def test_circles_and_large_values(self) -> None:
        world = with_values_changed(
            "a = [1]\na.append(a)\nb = list(range(100_000))\ndef f(): return a\ndef g(): return b\n"
        )
        assert call(world, "f")[0] == 2
        assert call(world, "g")[:3] == [1, 2, 3]

    def test_a_method_that_perturbing_itself_calls_does_not_recur(self) -> None:
        text = """
            class A:
                def __init__(self): self.n = 1
                def __getattribute__(self, name): return object.__getattribute__(self, name)
                def __copy__(self): return self
                def __hash__(self): return hash(self.n)
                def __eq__(self, other): return self.n == other.n
            def f(): return {A(): A()}
        """
        assert len(call(with_values_changed(text, "f"), "f")) == 2

    def test_async_functions_and_properties(self) -> None:
        text = """
            class A:
                @property
                def p(self): return 1
                async def m(self): return await n()
            async def n(): return 1
        """
        world = with_values_changed(text)
        a = call(world, "A")
        assert a.p == 2
        assert asyncio.run(a.m()) == 3

    def test_the_helper_has_a_name_of_its_own_and_needs_no_line(self) -> None:
        text = '#!/usr/bin/python\n"""Doc."""\nfrom __future__ import annotations\n_perturbed = 3\nx = (lambda: 1)()\n'
        after = broken(text, kinds(text, Kind.VALUE))
        world = executed(after)
        assert (world["_perturbed"], world["x"], world["__doc__"]) == (3, 2, "Doc.")
        assert after.count("\n") == text.count("\n")
        added = set(world) - set(executed(text))
        assert (
            len(added - {"__warningregistry__"}) == 1
        )  # made where something of another test warns as it is collected

    @pytest.mark.parametrize(
        ("above", "more"),
        [
            ("", 1),
            ("#!/bin/python\n# -*- coding: utf-8 -*-\n", 1),
            ("#!/bin/python\n# -*- coding: utf-8 -*-\n# Why.\n", 0),
            ("\n", 0),
            ("import os\n", 0),
            ("x = '''\n'''; y = 1\n", 0),
            ('"""Doc."""; x = 1\n', 0),
            ('"""Doc."""\n', 0),
            ("from __future__ import annotations  # why\n", 0),
            ("@(lambda f: f)\n", 1),
        ],
    )
    def test_the_helper_stands_where_a_module_may_have_it(self, above: str, more: int) -> None:
        text = f"{above}def f():\n    return 1\n"
        after = broken(text, [site for site in kinds(text, Kind.VALUE) if site.owner == "f"])
        assert after.count("\n") == text.count("\n") + more
        assert call(executed(after), "f") == 2
        assert ast.get_docstring(ast.parse(after)) == ast.get_docstring(ast.parse(text))

    def test_the_helper_is_not_there_where_nothing_asks_for_it(self) -> None:
        text = "def f():\n    return 1\n"
        assert "exec" not in broken(text, kinds(text, Kind.CONSTANT))
        assert broken(text, []) == text

    def test_the_helper_can_be_read_by_old_interpreters(self) -> None:
        (code,) = ast.parse(broken("x = lambda: 1", kinds("x = lambda: 1", Kind.VALUE))).body[:1]
        assert isinstance(code, ast.Expr)
        assert isinstance(code.value, ast.Call)
        text = ast.literal_eval(code.value.args[0])
        ast.parse(text, feature_version=(3, 8))


class TestComparisonMethods:
    def test_an_object_that_equals_everything_still_does(self) -> None:
        text = """
            class Yes:
                def __eq__(self, other):
                    if other is self:
                        return True
                    return 1 == 1
                __ne__ = lambda self, other: False
                __lt__ = always
                def __hash__(self): return 1
        """
        text = "def always(a, b): return True\n" + dedent(text)
        inside = [site for site in sites(text) if site.owner.startswith("Yes")]
        assert {site.kind for site in inside} == {Kind.VALUE}
        yes = call(executed(broken(text, inside)), "Yes")
        assert yes == "Hello"
        assert not yes != None  # noqa: E711, SIM202 - the comparison itself is asked
        assert not [site for site in kinds(text, Kind.BODY) if "always" in site.what]

    def test_two_objects_of_the_product_compare_otherwise(self) -> None:
        text = """
            class Money:
                def __init__(self, n): self.n = n
                def __eq__(self, other):
                    if not isinstance(other, Money): return NotImplemented
                    return self.n == other.n
                def __lt__(self, other, /): return self.n < other.n
        """
        text = dedent(text)
        world = executed(broken(text, [site for site in kinds(text, Kind.VALUE)]))
        one, two = call(world, "Money", 1), call(world, "Money", 2)
        assert one == two
        assert not one < two
        assert one != 1

    def test_what_equals_every_other_of_its_kind_still_does(self) -> None:
        text = """
            class Point:
                def __init__(self, x): self.x = x
                def __eq__(self, other): return EQUAL
        """
        always, honest = (
            dedent(text.replace("EQUAL", said)) for said in ("isinstance(other, Point)", "self.x == other.x")
        )
        for text, is_equal in ((always, True), (honest, False)):
            world = executed(broken(text, kinds(text, Kind.VALUE)))
            assert (call(world, "Point", 1) == call(world, "Point", 1)) is is_equal

    def test_a_comparison_without_an_other_is_none(self) -> None:
        assert not kinds("class A:\n    def __eq__(*both): return both[0] is both[1]\n", Kind.VALUE)

    def test_an_object_that_contains_everything_still_does(self) -> None:
        assert not sites("class A:\n    def __contains__(self, item):\n        return True\n")
        assert not kinds(
            "class A(type):\n    def __instancecheck__(cls, one):\n        return True\n", Kind.VALUE, Kind.CONSTANT
        )
        assert kinds("class A:\n    def __contains__(self, item):\n        return item in self.items\n", Kind.VALUE)


class TestBroken:
    def test_of_two_that_overlap_the_outer_one_wins(self) -> None:
        text = "def f(a):\n    send(lambda: 1)\n    return a\n"
        after = broken(text, sites(text))
        assert "lambda" not in after
        assert call(executed(after), "f", 1) is None
        kept = broken(text, kinds(text, Kind.STATEMENT, Kind.VALUE, Kind.CONSTANT))
        assert call(executed(kept), "f", 1) == 2
        assert "send" not in kept.splitlines()[-2]

    def test_neighbours_and_those_inside_a_value_are_broken_together(self) -> None:
        text = "def f(a):\n    return not a == 1 or 'b'\n"
        after = broken(text, kinds(text, Kind.VALUE, Kind.COMPARISON, Kind.CONSTANT))
        assert after.endswith("return _perturbed((( a != 2) and 'bx'))\n")

    def test_a_base_is_gone_and_a_name_is_perturbed(self) -> None:
        text = "import math\nclass B: x = 1\nclass A(B): y = math.pi\n"
        world = executed(broken(text, kinds(text, Kind.BODY, Kind.BASE)))
        assert not hasattr(world["A"], "x")
        assert world["A"].y > 4

    @pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
    def test_every_site_of_this_program_leaves_a_text_that_compiles(self, path: Path) -> None:
        """Each alone within its statement of the module, which is compiled sooner than the file; and all at once."""
        text = path.read_text("utf-8")
        found = sites(text)
        alone = [(part, site) for part in statements(text) for site in sites(part)]
        assert len(alone) == len(found)
        changed = [broken_without_helper(part, [site]) for part, site in alone]
        assert not [after for after, (part, _) in zip(changed, alone, strict=True) if after == part]
        compiled(broken(text, found), *changed)
        compiled(broken(text, [site for site in found if site.kind is not Kind.EMPTIED]))


def twin_of(text: str, *path: str) -> World:
    made = twin(dedent(text), path[:-1], path[-1], MARK)
    assert made is not None
    return executed(made)


def refused(run: Callable[[], object]) -> bool:
    with pytest.raises(AssertionError) as error:
        run()
    return str(error.value) == MARK


class TestTwins:
    @pytest.mark.parametrize(
        "body",
        [
            "def test(): pass",
            "def test(): seen.append(1); seen.append(2)  # why",
            "def test(): return seen.append(1)",
            "def test():\n    '''Doc.'''",
            "def test():\n    seen.append(1)",
            "def test():\n\tif seen:\n\t\treturn\n\tseen.append('''\n1''')\n\treturn 3",
            "def test():\n    for a in [1]:\n        with open('/dev/null'):\n            return seen.append(1)\n",
            "def test():\n    try:\n        return seen.append(1)\n    finally:\n        seen.append(2)\n",
            "def test():\n    try:\n        return\n    except BaseException: 1\n    finally:\n        return\n",
            "def test():\n    while True:\n        return\n",
            "def test():\n    def inner():\n        return 1\n    return inner\n# the end",
            "def test():\n    global a\n    a = f'''\n{1}''' '''\na'''\n    if a: return  # \\\n  # less\n    assert 0",
            "def test(): seen.append('''\n  a'''); return",
            "if 1:\n    def test():\n        return",
            "def test():\n    1 / 0\ndef test():\n    return",
            "def swallow(f):\n    return f\n@swallow\n@swallow\ndef test(a=1, *, b=2) -> None: return",
        ],
    )
    def test_the_false_assertion_is_met(self, body: str) -> None:
        world = twin_of(f"seen = []\n{body}", "test")
        assert refused(lambda: call(world, "test"))

    def test_what_is_returned_is_evaluated_first(self) -> None:
        world = twin_of(
            "seen = []\ndef test(a):\n    if a:\n        return seen.append(a)\n    seen.append('end')\n", "test"
        )
        assert refused(lambda: call(world, "test", 1))
        assert refused(lambda: call(world, "test", 0))
        assert world["seen"] == [1, "end"]

    def test_an_error_of_the_test_itself_stays(self) -> None:
        for body in ("raise KeyError(1)", "if 1: raise KeyError(1)\n    return"):
            with pytest.raises(KeyError):
                call(twin_of(f"def test():\n    {body}\n", "test"), "test")

    def test_called_while_an_error_is_handled(self) -> None:
        world = twin_of("def test():\n    if 1: return\n", "test")
        try:
            raise KeyError
        except KeyError:
            assert refused(lambda: call(world, "test"))

    def test_async(self) -> None:
        text = "seen = []\nasync def more(): seen.append(1)\nasync def test():\n    if 1: return await more()\n"
        world = twin_of(text, "test")
        assert refused(lambda: asyncio.run(call(world, "test")))
        assert world["seen"] == [1]

    def test_a_decorator_that_swallows_errors_swallows_this_one(self) -> None:
        text = """
            def swallow(f):
                def run():
                    try: f()
                    except BaseException: pass
                return run
            @swallow
            def test(): pass
        """
        assert call(twin_of(text, "test"), "test") is None

    def test_methods_of_nested_and_inherited_classes(self) -> None:
        text = """
            import unittest
            def test_a(): pass
            class Outer(unittest.TestCase):
                def test_a(self): super().setUp()
                class Inner:
                    def test_a(self):
                        if self: return
            class Base:
                def test_b(self): return __class__
            class Sub(Base): pass
        """
        assert refused(twin_of(text, "Outer", "test_a")["Outer"]("test_a").debug)
        inner = twin_of(text, "Outer", "Inner", "test_a")
        assert refused(inner["Outer"].Inner().test_a)
        assert call(inner, "test_a") is None
        assert refused(twin_of(text, "Sub", "test_b")["Sub"]().test_b)

    def test_parametrised(self) -> None:
        text = "import pytest\n@pytest.mark.parametrize('a', [1, 2])\ndef test(a):\n    assert a\n"
        assert refused(lambda: call(twin_of(text, "test"), "test", 2))
        assert twin(text, (), "test[1]", MARK) == twin(text, (), "test", MARK)

    def test_twins_of_several_tests_of_one_file(self) -> None:
        text = "def test_a():\n    if 1: return\ndef test_b(): pass\n"
        both = twin(twin(text, (), "test_a", MARK) or "", (), "test_b", MARK)
        assert both is not None
        assert refused(lambda: call(executed(both), "test_a"))
        assert refused(lambda: call(executed(both), "test_b"))

    def test_lines_stay_where_no_early_return_is(self) -> None:
        text = "def test():\n    assert 1  # why\n\n\ndef other(): pass"
        assert twin(text, (), "test", MARK) == (
            "def test():\n    assert 1  # why\n    assert False, 'twin 0123'\n\n\ndef other(): pass"
        )

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_line_ends(self, newline: str) -> None:
        text = newline.join(["\ufeffdef test():", "    if 1:", "        return 'ü'", "    pass"])
        made = twin(text, (), "test", MARK)
        assert made is not None
        assert "\n" not in made.replace(newline, "")
        assert refused(lambda: call(executed(made.removeprefix("\ufeff")), "test"))

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("def other(): pass", ("test",)),
            ("class A: pass", ("A", "test")),
            ("class A(A): pass", ("A", "test")),
            ("def test(): pass", ("A", "test")),
            ("def test():\n    yield 1\n", ("test",)),
            ("async def test():\n    yield 1\n", ("test",)),
            ("test = lambda: 1", ("test",)),
            ("def test(:", ("test",)),
        ],
    )
    def test_none_where_it_cannot_be_made(self, text: str, path: tuple[str, ...]) -> None:
        assert twin(text, path[:-1], path[-1], MARK) is None

    def test_many_at_once_are_what_they_are_one_by_one(self) -> None:
        text = (
            "def first():\n    if 1:\n        return 2\n    assert 1\n\n\n"
            "class Base:\n    def shared(self): assert 1\n\n\n"
            "class A(Base):\n    def own(self):\n        '''What it shows.'''\n        assert 1\n\n\n"
            "class B(Base):\n    pass\n\n\n"
            "def second(): pass\n"
        )
        named = [((), "first"), (("A",), "own"), (("A",), "shared"), ((), "second"), ((), "gone")]
        one_by_one, done = text, set()
        for classes, function in named:
            made = twin(one_by_one, classes, function, MARK)
            done |= {(classes, function)} if made is not None else set()
            one_by_one = made or one_by_one
        assert twins(text, named, MARK) == (one_by_one, frozenset(done))
        assert len(done) == 4

    def test_a_method_that_two_classes_inherit_ends_once(self) -> None:
        text = (
            "class Base:\n    def shared(self):\n        assert 1\n\n\nclass A(Base): pass\n\n\nclass B(Base): pass\n"
        )
        made, done = twins(text, [(("A",), "shared"), (("B",), "shared")], MARK)
        assert (made.count("assert False"), len(done)) == (1, 2)


class TestTurned:
    """What is asserted on one line is turned round: it fails where it held."""

    @pytest.mark.parametrize(
        "body",
        [
            "    assert 1 == 1",
            "    assert (\n        1\n        == 1\n    )",
            "    assert (1 == 1), (\n        'why'\n        'not')",
            "    assert 1 == 1, f(\n        2,\n    )",
            "    assert [a for a in (1, 2)] and not 0; f(1)",
            "    f(1)",
            "    f(\n        1,\n    )",
            "    if 1: f(1); f(2)",
            "    for a in (1,):\n        assert a",
        ],
    )
    @pytest.mark.parametrize("last", [False, True])
    def test_on_any_of_its_lines(self, body: str, last: bool) -> None:
        text = f"def f(a): pass\ndef test():\n{body}\n"
        line = 2 + body.count("\n") + 1 if last else 3 + body.startswith("    for")
        made, lines = turned(text, [line], MARK)
        assert lines == {line}
        assert made.count("\n") == text.count("\n")
        assert refused(lambda: call(executed(made), "test"))

    def test_what_did_not_hold_holds_and_nothing_else_changes(self) -> None:
        text = "def test():\n    assert 1 == 1\n    assert 1 == 2\n    found = 3\n    assert found == 3\n"
        made, lines = turned(text, [3, 4], MARK)
        assert lines == {3}
        assert call(executed(made), "test") is None
        assert turned("def test(:\n", [1], MARK) == ("def test(:\n", frozenset())

    def test_an_awaited_call(self) -> None:
        made, lines = turned("async def f(): pass\nasync def test():\n    await f()\n", [3], MARK)
        assert lines == {3}
        assert refused(lambda: asyncio.run(call(executed(made), "test")))

    def test_what_stands_in_a_block_that_may_keep_an_error(self) -> None:
        text = "def test():\n    a\n    with a as b:\n        c\n    try:\n        d\n    except E:\n        e\n"
        assert [line for line in range(1, 9) if is_sheltered(text, line)] == [4, 6]
        assert not is_sheltered("def test(:", 1)

    def test_what_a_test_may_end_without(self) -> None:
        text = (
            "def test():\n    for a in ROWS:\n        b\n    for a in rows():\n        b\n    if a:\n        b\n"
            "    else:\n        b\n    b\n    return\n    b\n"
        )
        assert [line for line in range(1, 13) if is_passed_by(text, line)] == [5, 7, 8, 9, 12]
        assert not is_passed_by("def test(:", 1)

    def test_where_something_is_asserted(self) -> None:
        lines = ("assert a", "self.assertEqual(a, b)", "check(a)", "assert_same(a)", "assert_same(b)")
        text = "def test():\n" + "".join(f"    {line}\n" for line in lines)
        assert asserted(text) == {2, 3, 5, 6}
        assert asserted(text, [6]) == {2, 3}
        assert asserted(text + "    with raises(E):\n        a\n") == frozenset()
        assert asserted(text + "    pytest.fail(a)\n") == frozenset()
        assert asserted("def test(:") == frozenset()


class TestRestated:
    TEXT = """
        '''Doc.'''
        X = [1]
        def plain(a):
            '''Doc.'''
            return [
                a,
            ]
        def one(): return locals()
        async def deep(a):
            for b in a:
                with b: return b
        class K:
            @property
            def g(self):
                global X
                X = 2; return X
        def looped():
            for a in (1, 2):
                yield a
    """

    def test_the_code_is_another_and_does_the_same(self) -> None:
        text = dedent(self.TEXT)
        made = restated(text)
        assert (made != text, made.count("\n")) == (True, text.count("\n") + 1)
        before, after = executed(text), executed(made)
        for name in ("plain", "one", "deep", "looped"):
            assert before[name].__code__.co_code != after[name].__code__.co_code
            assert before[name].__code__.co_varnames == after[name].__code__.co_varnames
        assert (call(after, "plain", 1), call(after, "one"), list(call(after, "looped"))) == ([1], {}, [1, 2])
        assert call(after, "K").g == 2
        assert after["plain"].__doc__ == "Doc."

    def test_where_there_is_no_function_or_no_syntax(self) -> None:
        assert restated("A = 1") == "A = 1\n"
        assert restated("A = = 1") == "A = = 1"
