"""JavaScript and TypeScript: what is broken, run with real Node; a test that is made false, under a small runner."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from agent_fox.verifier.mutants.script_sites import broken, sites, twin
from agent_fox.verifier.mutants.script_twins import is_for_others, is_sheltered, turned
from agent_fox.verifier.mutants.sites import Kind, Site, Unreadable
from agent_fox.verifier.policy.values import Language

TEXTS = Path(__file__).parents[3] / "fixtures" / "mutants"

NODE = shutil.which("node") or ""
needs_node = pytest.mark.skipif(not NODE, reason="no Node here")
JS, TS, TSX = Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX


def node(code: str, *options: str) -> str:
    ended = subprocess.run([NODE, *options, "-"], input=code, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout.strip()


def of(kind: Kind, text: str, language: Language = JS) -> list[Site]:
    return [site for site in sites(text, language) if site.kind is kind]


def each(kind: Kind, text: str, language: Language = JS) -> list[str]:
    """The text once for each site of the kind, with just that site broken."""
    return [broken(text, [site], language) for site in of(kind, text, language)]


def whats(text: str, language: Language = JS) -> list[str]:
    return [site.what for site in sites(text, language)]


# what functions return

VALUES = {
    "true": "false",
    "41": "42",
    "0.5": "1.5",
    "NaN": "0",
    "Infinity": "0",
    "1e300": "0",
    "10n ** 20n === 10n": "true",
    "String(5n)": "'x5'",
    "'Hello'": "'xolleH'",
    "''": "'x'",
    "`${1}`": "'x1'",
    "null": "null",
    "undefined": "undefined",
    "(0, 'last')": "'xtsal'",
    "1 ? 'a' : 'b'": "'xa'",
    "[]": "[]",
    "[1, 2, 3]": "[2, 3]",
    "['a', 1]": "['xa', 2]",
    "[[1, 2], [3, 4]]": "[[2]]",
    "({})": "{}",
    "({ name: 'Ada', age: 36, is: true, none: null, deep: { list: [1, 2] } })": (
        "{ name: 'xadA', age: 37, is: false, none: null, deep: { list: [2] } }"
    ),
    "Object.freeze({ a: 1 })": "{ a: 2 }",
    "Object.assign(Object.create(null), { a: 1 })": "Object.assign(Object.create(null), { a: 2 })",
    "new Map([['a', 1], ['b', 2]])": "new Map([['a', 2]])",
    "new Set([1, 2])": "new Set([2])",
    "new Date(0)": "new Date(90061001)",
    "Buffer.from([1, 255])": "Buffer.from([2, 0])",
    "new Uint16Array([1])": "new Uint16Array([2])",
    "new BigInt64Array([1n])": "new BigInt64Array([2n])",
}


@needs_node
def test_every_plain_value_is_changed_and_keeps_its_class() -> None:
    functions = "\n".join(f"make.push(function () {{ return {value}; }});" for value in VALUES)
    text = f"'use strict';\nconst make = [];\n{functions}\n"
    expected = ", ".join(VALUES.values())
    check = (
        f"\nconst assert = require('node:assert');\nconst expected = [{expected}];\n"
        "make.forEach((one, at) => { const got = one(); assert.deepStrictEqual(got, expected[at], String(one));"
        " assert.deepStrictEqual(one(), got); });\nconsole.log(make.length)"
    )
    assert node(broken(text, of(Kind.VALUE, text), JS) + check) == str(len(VALUES))


ERRORS = """
class Shut extends RangeError {
  constructor(name) { super(`${name} is shut`); this.code = "ESHUT"; this.name = "Shut"; }
}
function thrown() { throw new Shut("a/b"); }
const rejected = () => Promise.reject(new TypeError("no"));
const given = () => new Promise((done, reject) => reject(new Error("no")));
const some = (a) => { if (a) return 1; throw "no"; };
const seen = async (one) => { try { await one(); } catch (e) { return e; } };
"""


@needs_node
def test_an_error_that_tells_something_else_keeps_its_class_and_another_has_its_own() -> None:
    asked = "const all = [thrown, rejected, given, some].map((one) => seen(() => one(0)));"
    shown = (
        f"{asked} Promise.all(all).then((es) => console.log(JSON.stringify(es.map((e) => [e instanceof Shut,"
        " e instanceof RangeError, e instanceof TypeError, e instanceof Error, e.code, e.message, e.name,"
        " /thrown/.test(e.stack)]))));"
    )
    told = [site for site in of(Kind.VALUE, ERRORS) if "tells" in site.what]
    assert json.loads(node(broken(ERRORS, told, JS) + shown)) == [
        [True, True, False, True, "xTUHSE", "a/b is shutx", "xtuhS", True],
        [False, False, True, True, None, "xon", "TypeError", False],
        [False, False, False, True, None, "xon", "Error", False],
        [False, False, False, False, None, None, None, False],
    ]
    others = of(Kind.OTHER_ERROR, ERRORS)
    assert json.loads(node(broken(ERRORS, others, JS) + shown)) == [
        [False, False, False, True, "ESHUT", "a/b is shut", "Error", True],
        [False, False, False, True, None, "no", "Error", False],
        [False, False, False, True, None, "no", "Error", False],
        [False, False, False, False, None, None, None, False],
    ]


def test_the_error_that_a_function_always_comes_to_is_told_from_others() -> None:
    assert [site.owner for site in of(Kind.ONLY_ERROR, ERRORS)] == ["thrown"]
    assert "some" in [site.owner for site in of(Kind.STATEMENT, ERRORS)]


CLASSES = (TEXTS / "classes.js").read_text(encoding="utf-8")


@cache
def _one_by_one() -> dict[str, str]:
    """The text with the value of one function changed, by the function."""
    returned = [site for site in of(Kind.VALUE, CLASSES) if "returns" in site.what]
    return {site.owner: broken(CLASSES, [site], JS) for site in returned}


BEHAVIOUR = {
    "basket": [
        "basket(1, 2) instanceof Basket",
        "basket(1, 2).total === 4",
        "basket(1, 2).add(5).total === 9",
        "basket().label === 'xteksab'",
        "Object.keys(basket()).join() === 'label'",
        "basket(1).names().length === 0",
        "[...basket(1, 2).each()].join() === '2,3'",
        'JSON.stringify(basket()) === \'{"label":"xteksab"}\'',
        "basket(1, 2).constructor === Basket",
        "(await basket(1, 2).later()) === 3",
    ],
    "Basket.add": ["Basket.of(1).add(2) instanceof Basket", "Basket.of(1).total === 1"],
    "Basket.total": ["Basket.of(1).total === 2"],
    "Basket.names": ["Basket.of(1, 2).names().join() === 'x1'"],
    "Basket.later": ["Basket.of(1).later() instanceof Promise", "(await Basket.of(1).later()) === 2"],
    "Basket.each": [
        "[...Basket.of(1, 2).each()].join() === '2,3'",
        "Basket.of().each().toString() === '[object Generator]'",
    ],
    "Basket.slowly": ["(await (async () => { for await (const x of Basket.of(1, 2).slowly()) return x; })()) === 2"],
    "Basket.isEqual": [
        "Basket.of(1).isEqual(Basket.of(1)) === false",
        "Basket.of(1).isEqual({ total: 1 }) === true",
    ],
    "sub": ["sub() instanceof Sub", "sub().kind === 'xbus'"],
    "counter": ["counter().up() === 2"],
    "error": ["error() instanceof TypeError", "error().message === 'xgnorw'"],
    "promised": ["promised() instanceof Promise", "(await promised()).ok === false"],
    "rejected": ["(await rejected().catch((e) => e.message)) === 'no'"],
    "functions": ["functions()(2) === 5", "functions() === functions() || true"],
    "thenable": ["(await thenable()) === 6"],
    "url": ["url().pathname === '/ax'", "url() instanceof URL"],
    "shared": [
        "shared() === shared()",
        "shared().join() === '2'",
        "list.push(3) && shared().join() === '2,3' && list.pop() === 3",
    ],
    "loop": ["loop().name === 'xa'", "loop().self.self.name === 'xa'"],
    "entries": ["[...entries()].length === 2", "entries().next().done === false"],
    "pattern": ["pattern() instanceof RegExp", "pattern().test('a') === false"],
    "Point.equals": ["point(1).equals(point(2)) === true", "point(1).equals({}) === false"],
    "page": ["page('').has('a') === true", "page('a').has('a') === false"],
    "symbol": ["symbol() === Symbol.iterator"],
}


@needs_node
def test_what_is_changed_stays_what_it_was() -> None:
    texts = _one_by_one()
    runs = [
        f"await (async () => {{ {texts[owner].replace('module.exports = { Basket };', '')}\n"
        + "".join(f"if (!({claim})) wrong.push({json.dumps(f'{owner}: {claim}')});\n" for claim in claims)
        + "})();"
        for owner, claims in BEHAVIOUR.items()
    ]
    joined = "\n".join(runs)
    assert node(f"(async () => {{ const wrong = [];\n{joined}\nconsole.log(wrong.join('\\n')); }})()") == ""


def test_one_site_for_all_that_a_function_returns() -> None:
    text = "function f(a) {\n  if (a) return 1;\n  if (!a) return;\n  return g(() => { return 2; });\n}\n"
    assert [(site.owner, site.owner_line, site.line, len(site.pieces)) for site in of(Kind.VALUE, text)] == [
        ("f", 1, 2, 4),
        ("f.<anonymous>", 4, 4, 2),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "function f() { return; }",
        "class A { constructor() { return null; } }",
        "class A { set x(v) { this.y = v; } }",
        "const o = { asymmetricMatch(other) { return true; } };",
        "const f = () => { g(); };",
        "const f = () => null;",
        "const f = () => undefined;",
        "const f = () => void g();",
    ],
)
def test_what_returns_nothing_has_no_value(text: str) -> None:
    assert of(Kind.VALUE, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "const o = { includes: () => true };",
        "class Page { includes(part) { return true; } }",
        "class Page { has(part) { return true; } static [Symbol.iterator]() {} }",
    ],
)
def test_what_says_yes_to_everything_still_does(text: str) -> None:
    assert whats(text) == []
    assert whats(text.replace("true", "part === 1")) != []


# the other sites


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(a === b);", ["f(a !== b);"]),
        ("f(a != b);", ["f(a == b);"]),
        ("f(a < b, a >= b);", ["f(a >= b, a >= b);", "f(a < b, a < b);"]),
        ("f(a && b || c);", ["f(a || b || c);", "f(a && b && c);"]),
        ("f(!a);", ["f(a);"]),
        ("f(!(a > b));", ["f((a > b));", "f(!(a <= b));"]),
        ("f(a instanceof B);", ["f(!(a instanceof B));"]),
        ("f('a' in b);", ["f(!('a' in b));"]),
        ("if (a) f();", ["if (!(a)) f();"]),
        ("f(a.b() ? c : d);", ["f(!(a.b()) ? c : d);"]),
        ("f(a ?? b, a?.b);", []),
        ("for (const a of b) f(a);", []),
        ("while (queue.length) f();", []),
        ("f(typeof x === 'string');", ["f(typeof x !== 'string');"]),
        ("if (require.main === module) f();", []),
        ("if (import.meta.url === g(process.argv)) f();", []),
    ],
)
def test_comparisons_are_turned_round(text: str, expected: list[str]) -> None:
    assert each(Kind.COMPARISON, text) == expected


def in_function(code: str) -> str:
    return f"function f() {{ {code} }}"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("g(0, 7, 1.5, 0x10, 5n, 1_000);", [1, 8, 2.5, "(0x10 + 1)", "6n", 1001]),
        ("g('a', \"b\\\"\", '', `c${d}e`);", ["'ax'", '"b\\"x"', "'x'", "`c${d}ex`"]),
        ("g(true, false, null);", ["false", "true"]),
        ("g(-1);", ["2"]),
        ("g({ a: 1, 'b': c, 3: d, [e]: f });", ["2"]),
        ("g(/^a|b$/i);", ["/(?!)(?:^a|b$)/i"]),
        ("require('x'); import('y');", []),
        ("read(file, 'utf-8'); read(file, { encoding: 'utf8' });", []),
        ("if (typeof a === 'string') g();", []),
        ("'use strict'; g();", []),
        ("log.info('started', 1); logger.debug(`x`);", []),
        ("console.log('shown');", ["'shownx'"]),
        ("let total = 0;", ["1"]),
        ("switch (a) { case 'b': g(); }", ["'bx'"]),
    ],
)
def test_constants_of_a_function_are_changed(code: str, expected: list[object]) -> None:
    text = in_function(code)
    found = of(Kind.CONSTANT, text)
    assert len(found) == len(expected)
    for site, shown in zip(found, expected, strict=True):
        assert str(shown) in broken(text, [site], JS)
        assert site.owner == "f"


def test_default_arguments_belong_to_their_function() -> None:
    assert [(site.owner, site.what) for site in of(Kind.CONSTANT, "function f(a = 5, { b = 'x' } = {}) {}")] == [
        ("f", "`5` is changed"),
        ("f", "`'x'` is changed"),
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("g();", ["function f() { ; }"]),
        ("g()", ["function f() { ; }"]),
        ("await g({\n  a,\n});", ["function f() { ;\n\n }"]),
        ("total += price;", ["function f() { ; }"]),
        ("a.b = c; c[d] = e; x = y; i++;", 4),
        ("delete a.b;", 1),
        ("if (a) throw new Error(a);", 1),
        ("throw new Error(a);", 0),
        ("if (a) g(); else h();", ["function f() { if (a) ; else h(); }", "function f() { if (a) g(); else ; }"]),
        ("for (const a of b) g(a);", 1),
        ("yield a;", 1),
        ("const a = g();", 0),
        ("require('x'); logger.warn(a); 'use strict';", 0),
        ("function h() {} class A {}", 0),
        ("(() => { g(); })();", 1),
        ("a?.b();", 1),
        ("for (;;) { break; }", 0),
    ],
)
def test_statements_are_left_out(code: str, expected: list[str] | int) -> None:
    text = in_function(code)
    if isinstance(expected, int):
        assert len(of(Kind.STATEMENT, text)) == expected
    else:
        assert each(Kind.STATEMENT, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("items.forEach((x) => sum += x);", ["items.forEach((x) => sum += x);"]),
        ("setTimeout(() => done(5), 10);", ["setTimeout(() => done(5), 10);", "done(5)"]),
    ],
)
def test_a_callback_that_is_one_statement_can_be_left_out(text: str, expected: list[str]) -> None:
    assert len(of(Kind.STATEMENT, text)) == 2
    assert each(Kind.STATEMENT, text)[1] == text.replace("sum += x", "void 0").replace("done(5)", "void 0")


@pytest.mark.parametrize(
    "text",
    [
        "module.exports = { a };",
        "module.exports.a = a;",
        "exports.a = function () {};",
        "A.prototype.b = function () {};",
        "const { a } = require('a');",
        "import a from 'a'; import 'b'; export { a }; export * from 'c'; export default a;",
        "class A extends B { constructor() { super(); } }",
        "type A = 'a' | 1; interface B { c: 'd'; 'e': 2 } declare const x: 5;",
        "let a: 'b' = c as 'd'; function f<T = 'x'>(a: 1): a is 1;",
        "abstract class A { abstract f(): 'a'; b!: 'c'; }",
        "import x = require('y'); export = x;",
    ],
)
def test_definitions_imports_and_types_are_left_alone(text: str) -> None:
    language = TS if ":" in text or "import x" in text else JS
    assert [site for site in sites(text, language) if site.kind is not Kind.EMPTIED] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const TAX = 0.19;", ["const TAX = 1.19;"]),
        ("export const NAME = 'a';", ["export const NAME = 'ax';"]),
        ("module.exports = { limit: 5, add() {} };", ["module.exports = { limit: 6, add() {} };"]),
        ("exports.LIMIT = 5;", ["exports.LIMIT = 6;"]),
        ("class A { static LIMIT = 5; #a = 'b'; }", ["class A { static LIMIT = 6; #a = 'b'; }", None]),
        ("class A extends B { c() { return super.c(); } }", ["class A { c() { return super.c(); } }"]),
        ("class A extends B { constructor() { super(); } }", []),
        ("class A extends ValidationError {}", []),
        ("const A = class extends mixin(B) {};", ["const A = class {};"]),
        ("class A { static { setup('a'); } }", ["class A { static { setup('ax'); } }"]),
    ],
)
def test_constants_and_bases_of_bodies_are_changed(text: str, expected: list[str | None]) -> None:
    found = [site for site in sites(text, JS) if site.kind in (Kind.BODY, Kind.BASE)]
    assert [site.owner for site in found] == [""] * len(expected)
    for site, shown in zip(found, expected, strict=True):
        assert shown is None or broken(text, [site], JS) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("enum Colour { Red = 'red', Two = 2, Three }", 2),
        ("namespace N { export const a = 1; }", 1),
        ("export default { a: 1 } satisfies Q;", 1),
        ("const a = <const>['x'];", 1),
    ],
)
def test_bodies_of_typescript(text: str, expected: int) -> None:
    assert len(of(Kind.BODY, text, TS)) == expected


def test_typescript_without_a_base_keeps_what_it_implements() -> None:
    text = "class A<T> extends B<T> implements C {}"
    assert broken(text, of(Kind.BASE, text, TS), TS) == "// @ts-nocheck\nclass A<T> implements C {}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("function f() {\n  g();\n  return 1;\n}", ["function f() {\n  \n\n}", "function f() {\n  g();\n  ;\n}"]),
        ("const f = (a) => a + 1;", ["const f = (a) => void 0;"]),
        ("const f = () => ({ a: 1 });", ["const f = () => void 0;"]),
        ("class A extends B { constructor(a) { super(a); this.a = a; } }", None),
        ("function f() { if (a) return; g(); }", None),
        ("function f() { return 1; }", ["function f() {  }", "function f() { ; }"]),
        ("function f() {}", []),
    ],
)
def test_bodies_are_emptied_and_returns_left_out(text: str, expected: list[str] | None) -> None:
    found = each(Kind.EMPTIED, text)
    assert found if expected is None else found == expected


def test_what_a_property_of_this_is_given_is_left_out() -> None:
    text = "class A { constructor(a, b) { this.a = a; this.#b = new B(); b.a = a; this.n += 1; a = this.a; } }"
    assert [site.what for site in of(Kind.PROPERTY, text)] == [
        "`this.a = a;` is left out",
        "`this.#b = new B();` is left out",
    ]
    assert len(of(Kind.STATEMENT, text)) == 3


def test_an_emptied_constructor_still_calls_the_one_above() -> None:
    text = "class A extends B { constructor(a) { super(a); this.a = a; } }"
    assert each(Kind.EMPTIED, text) == ["class A extends B { constructor(a) { super(a);  } }"]


# names, lines and offsets

OWNERS = (TEXTS / "owners.js").read_text(encoding="utf-8")


def test_functions_are_called_by_where_they_stand() -> None:
    assert [(site.owner, site.owner_line) for site in of(Kind.VALUE, OWNERS)] == [
        ("plain", 2),
        ("later", 3),
        ("arrow", 4),
        ("named", 5),
        ("A.make", 7),
        ("A.size", 8),
        ("A.walk", 9),
        ("A.#hidden", 10),
        ("A.handler", 11),
        ('A.["comp" + "uted"]', 13),
        ("add", 15),
        ("sub", 15),
        ("later2", 15),
        ("A.old", 16),
        ("five", 17),
        ("outer.inner", 18),
        ("outer", 18),
        ("outer.<anonymous>", 18),
        ("api.get", 19),
    ]


@needs_node
def test_the_range_of_a_function_is_the_one_that_coverage_reports(tmp_path: Path) -> None:
    file = tmp_path / "owners.js"
    file.write_text(OWNERS, encoding="utf-8")
    environment = {"NODE_V8_COVERAGE": str(tmp_path / "out"), "PATH": "/usr/bin:/bin"}
    subprocess.run([NODE, file], check=True, timeout=30, env=environment)
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()]
    functions = next(one for one in reports[0]["result"] if one["url"].endswith("owners.js"))["functions"]
    measured = {(one["ranges"][0]["startOffset"], one["ranges"][0]["endOffset"]) for one in functions}
    assert {site.owner_range for site in of(Kind.VALUE, OWNERS)} <= measured


MODULE = (TEXTS / "module.mjs").read_text(encoding="utf-8")


@needs_node
def test_whatever_is_broken_can_be_parsed() -> None:
    every = sites(MODULE, JS)
    texts = [broken(MODULE, [site], JS) for site in every]
    texts += [broken(MODULE, every, JS)]
    texts += [broken(MODULE, [site for site in every if site.kind is not left], JS) for left in Kind]
    assert all(text.startswith('#!/usr/bin/env node\n"use strict";\n') for text in texts)
    code = f"for (const text of {json.dumps(texts)}) new (require('vm').SourceTextModule)(text); console.log('ok')"
    assert node(code, "--experimental-vm-modules", "--no-warnings") == "ok"
    assert len(every) > 45


@needs_node
def test_everything_broken_at_once_still_runs() -> None:
    every = [site for site in sites(CLASSES, JS) if site.kind is not Kind.EMPTIED]
    assert node(broken(CLASSES, every, JS) + "\nconsole.log(typeof basket)") == "function"


TYPED = """\
import type { A } from "./a";
export function pick<T extends "a" | "b">(key: T, all: Record<T, number> = {} as any): number | undefined {
  return all[key]!;
}
export abstract class Base<T> { protected constructor(private readonly x: T, public y = 1) {} abstract f(): "a";
  get<K>(k: K): [K, T] { return [k, this.x]; } }
const asserted = <T,>(x: unknown): x is T => typeof x === "object";
export const f = (x: string): asserts x => { if (!x) throw new Error("no"); };
@Injectable({ name: "x" }) class C { @Input() a = 5; }
"""


def test_typescript_is_not_checked_and_its_helper_keeps_types() -> None:
    text = broken(TYPED, of(Kind.VALUE, TYPED, TS), TS)
    assert text.startswith("// @ts-nocheck\nimport type")
    assert "<T>(" in text
    assert all(sites(broken(TYPED, [site], TS), TS) for site in sites(TYPED, TS))
    assert "'x'" not in " ".join(whats(TYPED, TS))


def test_components_are_broken_too() -> None:
    text = 'export const Hi = ({ name = "you" }) => <p className="a" onClick={() => save(1)}>Hello {name} !</p>;\n'
    kinds = [site.kind for site in sites(text, TSX)]
    assert kinds.count(Kind.CONSTANT) == 5
    assert kinds.count(Kind.STATEMENT) == 1
    assert kinds.count(Kind.VALUE) == 2
    assert sites(broken(text, [site for site in sites(text, TSX) if site.kind is not Kind.EMPTIED], TSX), TSX)


def test_a_text_that_is_no_program_is_said() -> None:
    with pytest.raises(Unreadable):
        sites("function (", JS)


def test_the_helper_has_a_name_that_nothing_else_has() -> None:
    text = "const f = () => 1;\n"
    first = broken(text, of(Kind.VALUE, text), JS)
    name = first.split("=> ", 1)[1].split("(", 1)[0]
    taken = f"const {name} = 5; const f = () => 1;\n"
    assert f"=> {name}(" not in broken(taken, of(Kind.VALUE, taken), JS)


# false twins

HARNESS = (TEXTS / "harness.js").read_text(encoding="utf-8")

SUITE = (TEXTS / "suite.js").read_text(encoding="utf-8")

TITLES = [
    ((), "plain"),
    ((), "expression"),
    ((), "async"),
    ((), "async expression"),
    ((), "returns a promise"),
    ((), "returns early"),
    ((), "with done"),
    ((), "with done at once"),
    ((), "with options"),
    ((), "tries"),
    ((), "catches all"),
    ((), "uses arguments"),
    ((), "nested"),
    (("nested",), "inside"),
    (("outer", "inner"), "plain"),
    (("outer",), "adds 1 and 2"),
    (("outer",), "only"),
    (("table x",), "row"),
    ((), "counts 1"),
    ((), "by name"),
    ((), "wrapped"),
    ((), 'it\'s "quoted"'),
    ((), "titled"),
]


@needs_node
def test_a_twin_runs_its_body_and_fails_alone() -> None:
    texts = []
    for titles, name in TITLES:
        made = twin(SUITE, titles, name, "MARK-1", JS)
        assert made is not None, (titles, name)
        texts.append(made)
    runs = [f"await (async () => {{ {HARNESS}\n{text}\nawait runAll(); }})();" for text in (SUITE, *texts)]
    out = node("(async () => {" + "\n".join(runs) + "})()")
    plain, *twins = map(json.loads, out.splitlines())
    assert {outcome for outcome, _ in plain.values()} == {"passed"}
    for (titles, name), outcomes in zip(TITLES, twins, strict=True):
        wanted = " > ".join((*titles, name))
        failed = {key for key, (outcome, _) in outcomes.items() if outcome == "MARK-1"}
        family = {
            wanted,
            *(key for key in failed if key.rpartition(" ")[0] == wanted.rpartition(" ")[0]),
            "outer > adds 3 and 4",
        }
        assert wanted in failed, wanted
        assert failed <= family, wanted
        assert {key: said for key, (_, said) in outcomes.items()} == {key: said for key, (_, said) in plain.items()}


@pytest.mark.parametrize(
    ("text", "titles", "name"),
    [
        ("test('a', () => {});", (), "b"),
        ("test('a', () => {});", ("x",), "a"),
        ("test('a', function* () {});", (), "a"),
        ("test.todo('a');", (), "a"),
        ("test('a', (", (), "a"),
        ("run('a', () => {});", (), "a"),
    ],
)
def test_no_twin_where_the_test_is_not_found(text: str, titles: tuple[str, ...], name: str) -> None:
    assert twin(text, titles, name, "MARK", JS) is None


def test_an_exact_title_wins_over_a_pattern() -> None:
    text = "test(`a ${b}`, () => f());\ntest('a 1', () => g());\n"
    assert twin(text, (), "a 1", "MARK", JS) != text
    assert "=> f()" in (twin(text, (), "a 1", "MARK", JS) or "")


def test_titles_may_be_joined_as_runners_join_them() -> None:
    text = "describe('a', () => { describe('b', () => { it('c', () => f()); }); });"
    made = twin(text, ("a", "b"), "c", "MARK", JS)
    assert made is not None
    assert twin(text, ("a b",), "c", "MARK", JS) == made
    assert twin(text, (), "a b c", "MARK", JS) == made


def test_the_parameters_of_a_test_stay_as_they_are() -> None:
    """Vitest reads fixtures from the text of a function, Jest counts parameters."""
    text = "it('a', async ({ db, user = 5 }: Given, ...more): Promise<void> => {\n  await f(db);\n});\n"
    made = twin(text, (), "a", "MARK", TS) or ""
    assert "async ({ db, user = 5 }: Given, ...more): Promise<void> => {" in made
    assert made.index("f(db)") < made.index("MARK")
    assert made.splitlines()[1].strip().startswith("await f(db)")


@needs_node
def test_node_itself_sees_the_twin_fail(tmp_path: Path) -> None:
    text = (
        'import test from "node:test";\ntest("first", async (t) => {\n  await t.test("inner", () => {});\n});\n'
        'test("second", (t, done) => { setImmediate(done); });\n'
    )
    file = tmp_path / "a.test.mjs"
    for titles, name, failing in (((), "first", 1), (("first",), "inner", 2), ((), "second", 1)):
        file.write_text(twin(text, titles, name, "MARK-7", JS) or "")
        ended = subprocess.run(
            [NODE, "--test-reporter=tap", file], capture_output=True, text=True, timeout=30, check=False
        )
        assert ended.stdout.count("not ok") == failing, ended.stdout
        assert "MARK-7" in ended.stdout


# one assertion turned round, and what stands around it

TURNED = [
    ("f();", '{ f();; throw new Error("M"); }'),
    ("await f()", '{ await f(); throw new Error("M"); }'),
    ("if (a) f(\n  1,\n);", 'if (a) { f(\n  1,\n);; throw new Error("M"); }'),
    ("test('a', () => f(1));", "test('a', () => { f(1); throw new Error(\"M\"); });"),
    ("test('a', async () => {\n});", "{ test('a', async () => {\n});; throw new Error(\"M\"); }"),
]


@pytest.mark.parametrize(("text", "made"), TURNED)
def test_what_is_asserted_is_turned_round(text: str, made: str) -> None:
    assert turned(text, [1], "M", JS) == (made, frozenset({1}))


def test_the_inmost_statement_of_a_line_is_turned_round() -> None:
    text = "test('a', () => {\n  const a = 1;\n  each((b) => {\n    f(a);\n  });\n});\n"
    made, lines = turned(text, [4, 7], "M", JS)
    assert made == text.replace("f(a);", '{ f(a);; throw new Error("M"); }')
    assert lines == {4}


def test_what_stands_around_a_line() -> None:
    text = "beforeAll(() => {\n  a();\n});\nafter(b);\nit('c', () => {\n  try {\n    d();\n  } catch {}\n});\n"
    assert [line for line in range(1, 10) if is_for_others(text, line, JS)] == [1, 2, 3, 4]
    assert [line for line in range(1, 10) if is_sheltered(text, line, JS)] == [6, 7, 8]
    assert not is_for_others("beforeEach(() => {\n  a();\n});\n", 2, JS)
