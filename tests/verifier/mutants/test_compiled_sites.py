"""Go, Java and Rust: what is broken still compiles, and does something else; a test that is made false."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agent_fox.verifier.mutants.compiled_sites import broken, inline_tests, is_for_tests, sites, twin
from agent_fox.verifier.mutants.sites import Kind, Site, Unreadable
from agent_fox.verifier.policy.values import Language

TEXTS = Path(__file__).parents[3] / "fixtures" / "mutants"

GO, JAVA, RUST = Language.GO, Language.JAVA, Language.RUST
needs_go = pytest.mark.skipif(not shutil.which("go"), reason="no Go here")
needs_java = pytest.mark.skipif(not shutil.which("javac"), reason="no Java here")
needs_rust = pytest.mark.skipif(not shutil.which("rustc"), reason="no Rust here")


QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-Xshare:auto")


def of(kind: Kind, text: str, language: Language) -> list[Site]:
    return [site for site in sites(text, language) if site.kind is kind]


def each(kind: Kind, text: str, language: Language) -> list[str]:
    return [broken(text, [site], language) for site in of(kind, text, language)]


def run(folder: Path, *command: str, code: int = 0) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == code, ended.stdout[-2000:] + ended.stderr[-3000:]
    return ended.stdout


def variants(text: str, language: Language) -> list[str]:
    """Each kind of site broken at once, and all but the emptied."""
    every = sites(text, language)
    chosen = [[site for site in every if site.kind is kind] for kind in Kind]
    chosen.append([site for site in every if site.kind is not Kind.EMPTIED])
    return [broken(text, some, language) for some in chosen if some]


GO_TEXT = (TEXTS / "shop.go").read_text(encoding="utf-8")

GO_VALUES = (TEXTS / "shop_values.go").read_text(encoding="utf-8")


@needs_go
def test_what_go_returns_is_changed_and_compiles(tmp_path: Path) -> None:
    texts = variants(GO_TEXT, GO)
    (tmp_path / "go.mod").write_text("module shop\n\ngo 1.18\n")
    for at, text in enumerate(texts):
        (tmp_path / f"v{at}").mkdir()
        (tmp_path / f"v{at}" / "shop.go").write_text(text)
    wanted = '"2 <nil> negativex 3xnewxfalse [ax] map[a:1.5] 2 nox true <nil> 3xaxix98 8 true true false true true"'
    (tmp_path / "v0" / "shop_test.go").write_text(GO_VALUES.replace("WANTED", wanted))
    (tmp_path / "v0" / "more.go").write_text("package shop\n\nfunc More() int { return 1 }\n")
    run(tmp_path, "go", "build", "./...")
    run(tmp_path, "go", "test", "-vet=off", "./v0")


GO_OWN = """package money

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

type Money struct {
	cents int
	next  *Money
	lock  *sync.Mutex
	kept  strings.Builder
}

func Plus(a, b Money) Money                       { return Money{cents: a.cents + b.cents} }
func Later(a time.Time, n int) time.Time          { return a.Add(time.Duration(n) * time.Second) }
func (m *Money) With(n int) *Money                { m.cents += n; return m }
func (m *Money) Next() *Money                     { return m.next }
func (m *Money) Checked() (*Money, error)         { return m.next, nil }
func Server(at string) *http.Server               { return &http.Server{Addr: at} }
func Asked(at *http.Request) (*http.Request, error) { return at, nil }
"""

GO_OWN_TEST = """package money

import (
	"testing"
	"time"
)

func TestAll(t *testing.T) {
	if got := Plus(Money{cents: 2}, Money{cents: 3}); got.cents != 6 || got.kept.Len() != 0 {
		t.Fatal(got.cents)
	}
	if got := Later(time.Unix(5, 0), 2).Unix(); got != 8 {
		t.Fatal(got)
	}
	one := &Money{cents: 1}
	one.next = one
	two := one.Next()
	if one.With(0) != one || two == one || two != one.Next() || two.cents != 2 || one.cents != 1 {
		t.Fatal(two.cents)
	}
	if three, err := one.Checked(); three != two || err != nil {
		t.Fatal(three, err)
	}
}
"""


@needs_go
def test_own_values_of_go_hold_something_else_and_what_belongs_to_others_is_left(tmp_path: Path) -> None:
    """The same one for the same one, also where they hold each other."""
    values = of(Kind.VALUE, GO_OWN, GO)
    assert [one.owner for one in values] == ["Plus", "Later", "Money.Next", "Money.Checked"]
    (tmp_path / "go.mod").write_text("module money\n\ngo 1.18\n")
    (tmp_path / "money.go").write_text(broken(GO_OWN, values, GO))
    (tmp_path / "money_test.go").write_text(GO_OWN_TEST)
    run(tmp_path, "go", "test", "-vet=off", ".")


def test_go_by_its_text() -> None:
    found = sites(GO_TEXT, GO)
    assert [(one.owner, one.owner_line) for one in found if one.kind is Kind.VALUE][:5] == [
        ("New", 17),
        ("Basket.Add", 19),
        ("Basket.Total", 28),
        ("Basket.Same", 36),
        ("Flag", 38),
    ]
    assert [one.what for one in found if one.kind is Kind.BODY] == [
        "`5` is changed",
        '`"shop"` is changed',
        '`"a"` is changed',
        "`1` is changed",
        '`"no"` is changed',
    ]
    assert [one.line for one in found if one.kind is Kind.STATEMENT] == [23, 24, 31, 38, 38, 48, 48, 49]


@pytest.mark.parametrize(
    ("code", "kind", "expected"),
    [
        ("b.count++", Kind.STATEMENT, "if false { b.count++ }"),
        ("go f()", Kind.STATEMENT, "if false { go f() }"),
        ("log.Println(1 + 1, a == b)", Kind.STATEMENT, None),
        ("log.Println(1)", Kind.CONSTANT, None),
        ("for i = 0; i < n; i++ {\n}", Kind.STATEMENT, None),
        ("if x := f(); ok {\n}", Kind.COMPARISON, "if x := f(); !(ok) {"),
        ("if a <= b {\n}", Kind.COMPARISON, "if a > b {"),
        ("f(`raw`)", Kind.CONSTANT, "f(`rawx`)"),
        ("f(0xff)", Kind.CONSTANT, "f((0xff ^ 1))"),
        ("f(1.5)", Kind.CONSTANT, "f(2.5)"),
        ("f('a')", Kind.CONSTANT, "f('b')"),
        ("f('\\n')", Kind.CONSTANT, "f(('\\n' + 1))"),
    ],
)
def test_statements_of_go(code: str, kind: Kind, expected: str | None) -> None:
    made = each(kind, f"package a\n\nfunc g() {{\n\t{code}\n}}\n", GO)
    assert [text.splitlines()[3].strip() for text in made] == ([expected] if expected else [])


JAVA_TEXT = (TEXTS / "Shop.java").read_text(encoding="utf-8")

JAVA_MAIN = """
class Main {
  public static void main(String[] given) {
    Shop s = new Shop();
    System.out.print(s.add(2) + " " + s.wide() + " " + s.half() + " " + s.flag(false) + " " + s.text() + " " + s.list()
      + s.exact() + s.table() + s.maybe(true) + s.maybe(false) + s.stream().findFirst().get()
      + s.array().length + s.letter() + s.colour() + s.same(1) + s.none() + s.equals(new Shop()) + s.equals("a")
      + new Point(1).equals(new Point(1)) + new Point(1).equals(new Point(2)) + s.compareTo(s) + s.kind(1) + s.kind(2));
  }
}
"""


@needs_java
def test_what_java_returns_is_changed_and_compiles(tmp_path: Path) -> None:
    """A body without its base class need not compile: it calls what is above. What equals every other goes on to."""
    every = [site for site in sites(JAVA_TEXT, JAVA) if "base class" not in site.what]
    chosen = [[site for site in every if site.kind is kind] for kind in Kind if kind is not Kind.EMPTIED]
    chosen += [[site for site in every if site.kind is Kind.EMPTIED and "hop.Shop" not in site.owner]]
    for at, some in enumerate(chosen):
        text = broken(JAVA_TEXT, some, JAVA) + JAVA_MAIN
        (tmp_path / f"v{at}").mkdir()
        (tmp_path / f"v{at}" / "Shop.java").write_text(text.replace("package shop", f"package v{at}"))
    run(tmp_path, "javac", *QUICK, "-nowarn", "-proc:none", *(f"v{at}/Shop.java" for at in range(len(chosen))))
    assert run(tmp_path, "java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", ".", "v0.Main") == (
        "3 2 1.5 false x5t [xa][2]{a=2}Optional[xm]Optional.empty21aBLUE2nulltruetruefalsetrue1xenoxynam"
    )


JAVA_OWN = """
import java.util.*;

record Money(long cents, String of) {
  Money plus(Money other) { return new Money(cents + other.cents, of); }
}

class Purse {
  private final Map<String, Money> kept = new HashMap<>();
  private Purse other;
  Purse with(Purse other) { this.other = other; return other; }
  Object lent() { return new StringBuilder("a"); }
  static java.time.LocalDate day() { return java.time.LocalDate.EPOCH; }
  static java.time.LocalTime hour() { return java.time.LocalTime.MIN; }
  static java.time.Duration long_() { return java.time.Duration.ZERO; }
  static java.nio.file.Path file() { return java.nio.file.Path.of("a", "b"); }
  Money all(String name) { return kept.getOrDefault(name, null); }
  int left() { return kept.size() + (other == null ? 0 : 10); }
}

class Main {
  public static void main(String[] given) {
    Purse one = new Purse(), two = new Purse();
    two.with(one);
    System.out.print(new Money(2, "a").plus(new Money(3, "b")) + " " + (one.with(two) == one.with(two)) + " "
      + one.with(two).left() + " " + one.lent() + " " + one.all("a") + " " + Purse.day() + " " + Purse.hour() + " "
      + Purse.long_() + " " + Purse.file());
  }
}
"""


@needs_java
def test_objects_of_the_product_keep_their_class_and_hold_something_else(tmp_path: Path) -> None:
    """The same one for the same one, also where they hold each other; no other's objects are touched."""
    values = [site for site in of(Kind.VALUE, JAVA_OWN, JAVA) if "left" not in site.what]
    (tmp_path / "Main.java").write_text(broken(JAVA_OWN, values, JAVA))
    run(tmp_path, "javac", *QUICK, "-nowarn", "-proc:none", "Main.java")
    out = run(tmp_path, "java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", ".", "Main")
    assert out == "Money[cents=6, of=xa] true 10 a null 1970-01-02 00:00:01 PT1S a/bx"


def test_java_by_its_text() -> None:
    found = sites(JAVA_TEXT, JAVA)
    returned = [one.owner for one in found if one.kind is Kind.VALUE and "returns" in one.what]
    assert returned[:3] == ["Shop.add", "Shop.wide", "Shop.half"]
    assert {one.what for one in found if one.kind is Kind.BODY} >= {"`5` is changed", '`"r"` is changed'}
    assert [(one.line, one.owner, one.kind) for one in found if one.kind in (Kind.STATEMENT, Kind.PROPERTY)] == [
        (9, "Shop.Colour.Colour", Kind.STATEMENT),
        (15, "Shop.add", Kind.STATEMENT),
        (16, "Shop.add", Kind.STATEMENT),
        (45, "Point.Point", Kind.PROPERTY),
    ]
    assert "all" not in " ".join(one.what for one in found if one.kind is not Kind.VALUE and '"all"' in one.what)


RUST_TEXT = (TEXTS / "shop.rs").read_text(encoding="utf-8")

RUST_MAIN = """
fn main() {
    let mut s = v0::Shop::new("a");
    print!("{:?} {:?} {} {} {:?} {:?} {:?} {} {} {} {:?} {} {}", s.add(2), s.add(-1), s.total(), s.name(), s.first(),
        s.all(), s.pair(), v0::kind(1), v0::kind(3), v0::half(true), v0::parsed("4"), s, v0::Shop::seven());
}
"""


@needs_rust
def test_what_rust_returns_is_changed_and_compiles(tmp_path: Path) -> None:
    bodies = (text.replace("#![allow(dead_code)]", "") for text in variants(RUST_TEXT, RUST))
    modules = "\n".join(f"mod v{at} {{\n{text}\n}}" for at, text in enumerate(bodies))
    (tmp_path / "main.rs").write_text("#![allow(warnings)]\n" + modules + RUST_MAIN)
    run(tmp_path, "rustc", "--edition", "2018", "-C", "debuginfo=0", "main.rs")
    assert run(tmp_path, "./main") == (
        "4\nOk(2) Err(\"negative -1\") 3 ax Some(3) [] (true, 'x') enox eerhtx 1.5 Ok(5) shop a 7"
    )


RUST_FEWER = """
pub struct Card(u8);
pub fn last(of: &mut Vec<Card>) -> Option<Card> { of.pop() }
pub fn hand(n: u8) -> Vec<Card> { if n == 0 { return Vec::new(); } (0..n).map(Card).collect() }
pub struct Pairs<I: Iterator>(I);
impl<I: Iterator> Iterator for Pairs<I> {
    type Item = (I::Item, I::Item);
    fn next(&mut self) -> Option<Self::Item> { let first = self.0.next()?; Some((first, self.0.next()?)) }
}
"""


@needs_rust
def test_where_rust_cannot_change_a_value_there_is_one_less_or_none(tmp_path: Path) -> None:
    chosen = of(Kind.PROPERTY, RUST_FEWER, RUST)
    main = 'fn main() { let mut all = hand(3); print!("{} {} {}", all.len(), last(&mut all).is_some(), '
    main += "Pairs([1, 2].iter()).count()); }\n"
    (tmp_path / "main.rs").write_text(broken(RUST_FEWER, chosen, RUST) + main)
    assert [one.owner for one in chosen] == ["last", "hand", "Pairs.next"]
    run(tmp_path, "rustc", "--edition", "2021", "-C", "debuginfo=0", "main.rs")
    assert run(tmp_path, "./main") == "2 false 0"


def test_what_rust_expects_is_told_otherwise_where_its_words_stand_there() -> None:
    text = 'fn first(all: &[u8]) -> u8 { *all.first().expect("empty") }\nfn it(p: P) { p.expect(Token::Plus); }\n'
    (made,) = each(Kind.OTHER_ERROR, text, RUST)
    assert ".expect(&perturbed" in made
    assert '::turned("empty".to_string()))' in made


def test_rust_by_its_text() -> None:
    found = sites(RUST_TEXT, RUST)
    assert [one.owner for one in found if one.kind is Kind.VALUE] == [
        "Shop.add",
        "Shop.total",
        "Shop.name",
        "Shop.first",
        "Shop.all",
        "Shop.pair",
        "kind",
        "half",
        "half_or_less",
        "parsed",
        "inner.deep.two",
    ]
    assert [(one.what, one.line) for one in found if one.kind is Kind.BODY] == [
        ("`5` is changed", 4),
        ('`"shop"` is changed', 5),
    ]
    assert [one.line for one in found if one.kind is Kind.STATEMENT] == [15, 20, 41, 45]
    assert max(one.line for one in found) == 45


GO_ERRORS = """
package shop

import "errors"

var Shut = errors.New("shut")

type Refused struct{ Page string }

func (r *Refused) Error() string { return r.Page }

func plain() error { return Shut }

func several(n int) (int, error) {
	if n > 0 {
		return n, nil
	}
	return 0, &Refused{"a"}
}

func named() (n int, err error) {
	err = Shut
	return
}

func panics(what interface{}) int {
	println("a")
	panic(what)
}

func tries(what interface{}) {
	if what != nil {
		panic(what)
	}
}
"""

GO_ASKS = """
package shop

import (
	"errors"
	"testing"
)

func asked(what interface{}) (got interface{}) {
	defer func() { got = recover() }()
	return panics(what)
}

func TestIt(t *testing.T) {
	var refused *Refused
	one, _ := several(1)
	_, two := several(0)
	_, three := named()
	if errors.Is(plain(), Shut) || errors.As(two, &refused) || two == nil || three == nil || three == Shut || one != 1 {
		t.Error(plain(), one, two, three)
	}
	if asked("a") == "a" || asked(Shut) == Shut || asked(3) != 4 {
		t.Error(asked("a"), asked(Shut), asked(3))
	}
}
"""


@needs_go
def test_another_error_of_go_is_none_that_the_package_knows(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module shop\n\ngo 1.18\n")
    (tmp_path / "shop.go").write_text(broken(GO_ERRORS, of(Kind.OTHER_ERROR, GO_ERRORS, GO), GO))
    (tmp_path / "shop_test.go").write_text(GO_ASKS)
    run(tmp_path, "go", "test", "-vet=off", ".")
    assert [site.owner for site in of(Kind.ONLY_ERROR, GO_ERRORS, GO)] == ["panics"]


JAVA_ERRORS = """
class Refused extends Exception {
  private final int code;
  Refused(int code) { super("refused"); this.code = code; }
  int code() { return code; }
}
class Main {
  static int put(int page) throws Refused { throw new Refused(page); }
  static String next(int at) { if (at > 0) { return "a"; } throw new java.util.NoSuchElementException("none"); }
  static String said(java.util.concurrent.Callable<?> one) {
    try { return "" + one.call(); }
    catch (Refused e) { return "Refused " + e.code() + " " + e.getMessage(); }
    catch (java.util.NoSuchElementException e) { return "none " + e.getMessage(); }
    catch (Exception e) { return "other " + e.getMessage(); } }
  public static void main(String[] given) {
    System.out.print(said(() -> put(7)) + ", " + said(() -> next(0)) + ", " + said(() -> next(1))); }
}
"""


def test_what_a_field_of_java_is_given_is_left_out() -> None:
    text = "class A { int a; int n; A(int a) { this.a = a; n = a; this.n += 1; } }"
    assert [site.what for site in of(Kind.PROPERTY, text, JAVA)] == ["`this.a = a;` is left out"]
    assert len(of(Kind.STATEMENT, text, JAVA)) == 2


@needs_java
def test_another_error_of_java_has_another_class_and_one_that_tells_otherwise_its_own(tmp_path: Path) -> None:
    told = [site for site in of(Kind.VALUE, JAVA_ERRORS, JAVA) if "tells" in site.what]
    chosen = [told, of(Kind.OTHER_ERROR, JAVA_ERRORS, JAVA), of(Kind.ONLY_ERROR, JAVA_ERRORS, JAVA)]
    for at, some in enumerate(chosen):
        (tmp_path / f"v{at}").mkdir()
        (tmp_path / f"v{at}" / "Main.java").write_text(f"package v{at};\n{broken(JAVA_ERRORS, some, JAVA)}")
    run(tmp_path, "javac", *QUICK, "-nowarn", "-proc:none", *(f"v{at}/Main.java" for at in range(len(chosen))))
    java = ("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", ".")
    assert [run(tmp_path, *java, f"v{at}.Main") for at in range(len(chosen))] == [
        "Refused 8 desuferx, none enonx, a",
        "other null, other null, a",
        "0, none none, a",
    ]


RUST_ERRORS = """
#[derive(Debug)]
pub enum Refusal { Shut, Full, Long { most: usize } }
#[derive(Debug)]
pub struct Only;
pub fn plain() -> Result<(), Refusal> { Err(Refusal::Shut) }
pub fn long(n: usize) -> Result<usize, Refusal> { if n > 3 { return Err(Refusal::Long { most: 3 }); } Ok(n) }
pub fn only() -> Result<u8, Only> { Err(Only) }
pub fn text(a: &str) -> Result<Vec<u8>, String> { Err(format!("no {}", a)) }
pub fn panics(a: &str) -> i32 { panic!("no {}", a) }
pub fn later() -> i32 { todo!() }
"""
RUST_ASKS = """
fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let said = std::panic::catch_unwind(|| panics("a")).unwrap_err();
    let said = said.downcast::<String>().unwrap();
    print!("{:?} {:?} {:?} {:?} {:?} {}", plain(), long(4), long(1), only(), text("a"), said);
}
"""


@needs_rust
def test_another_error_of_rust_is_another_variant_or_text_or_none_at_all(tmp_path: Path) -> None:
    (tmp_path / "main.rs").write_text(broken(RUST_ERRORS, of(Kind.OTHER_ERROR, RUST_ERRORS, RUST), RUST) + RUST_ASKS)
    run(tmp_path, "rustc", "--edition", "2021", "-C", "debuginfo=0", "main.rs")
    assert run(tmp_path, "./main") == 'Err(Full) Err(Shut) Ok(1) Ok(0) Err("a onx") a onx'
    assert [site.owner for site in of(Kind.ONLY_ERROR, RUST_ERRORS, RUST)] == ["panics", "later"]


@pytest.mark.parametrize(("text", "language"), [("func (", GO), ("class {", JAVA), ("fn (", RUST)])
def test_a_text_that_is_no_program_is_said(text: str, language: Language) -> None:
    with pytest.raises(Unreadable):
        sites(text, language)
    assert twin(text, (), "a", "MARK", language) is None


# false twins

GO_TEST = (TEXTS / "cart_twin.go").read_text(encoding="utf-8")


@needs_go
def test_a_twin_of_go_fails(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module shop\n\ngo 1.18\n")
    cases = [((), "TestPlain", "TestPlain"), (("TestTable",), "by_hand", "by_hand"), (("TestTable",), "two", "two")]
    for at, (classes, name, _) in enumerate(cases):
        (tmp_path / f"v{at}").mkdir()
        (tmp_path / f"v{at}" / "a_test.go").write_text(twin(GO_TEST, classes, name, "MARK-1", GO) or "")
    out = run(tmp_path, "go", "test", "-v", "-vet=off", "./...", code=1)
    for _, _, shown in cases:
        assert any(line.strip().startswith("--- FAIL:") and shown in line for line in out.splitlines()), out
    assert out.count("MARK-1") == 4  # both rows of the table


def test_twins_of_go_by_their_text() -> None:
    assert 'panic("MARK")' in (twin(GO_TEST, (), "TestUnused", "MARK", GO) or "")
    assert twin(GO_TEST, (), "TestOther", "MARK", GO) is None
    outer = "func TestSuite(t *testing.T) { suite.Run(t, new(S)) }"
    suite = f"package a\n\n{outer}\nfunc (s *S) TestOne() {{ s.True(f()) }}\n"
    assert 's.True(f()) }(); panic("MARK") }' in (twin(suite, ("TestSuite",), "TestOne", "MARK", GO) or "")


JAVA_TEST = """\
class ShopTest {
  @Test public void plain() throws Exception { if (true) return; fail(); }
  @ParameterizedTest @ValueSource(ints = {1}) void rows(int n) { check(n); }
  @Test(expected = IllegalStateException.class) public void expects() { f(); }
  void helper() {}
  @Nested class Inner { @Test void plain() { g(); } }
}
"""


def test_twins_of_java_by_their_text() -> None:
    made = twin(JAVA_TEST, ("shop", "ShopTest"), "plain()", "MARK", JAVA) or ""
    assert '{ itself(); throw new AssertionError("MARK"); } void itself() throws Exception { if (true) return;' in made
    rows = twin(JAVA_TEST, ("shop.ShopTest",), "rows(int)[1]", "MARK", JAVA) or ""
    assert '{ itself(n); throw new AssertionError("MARK"); } void itself(int n)' in rows
    inner = twin(JAVA_TEST, ("shop.ShopTest$Inner",), "plain", "MARK", JAVA) or ""
    assert "void itself() { g(); }" in inner.replace("  ", " ")
    for name in ("expects", "helper", "other"):
        assert twin(JAVA_TEST, ("ShopTest",), name, "MARK", JAVA) is None


RUST_TEST = (TEXTS / "cart_twin.rs").read_text(encoding="utf-8")


@needs_rust
def test_a_twin_of_rust_fails(tmp_path: Path) -> None:
    text = RUST_TEST
    for classes, name in ((("tests",), "plain"), ((), "tests::results"), (("tests", "inner"), "plain")):
        text = (twin(text, classes, name, "MARK-{}", RUST) or "").replace("itself", f"i{name[-3:]}{len(classes)}")
    (tmp_path / "a.rs").write_text(text)
    run(tmp_path, "rustc", "--test", "--edition", "2018", "-C", "debuginfo=0", "a.rs")
    out = run(tmp_path, "./a", code=101)
    assert "1 passed; 3 failed" in out
    assert out.count("MARK-{}") == 3
    assert twin(RUST_TEST, ("tests",), "panics", "MARK", RUST) is None


def test_a_twin_of_rust_has_the_parameters_of_its_test() -> None:
    text = "#[rstest]\n#[case(1)]\nasync fn rows(#[case] n: i32) { check(n).await; }\n"
    made = twin(text, ("rows",), "case_1", "MARK", RUST) or ""
    assert "{ async fn itself(n: i32) { check(n).await; } let _ = itself(n).await; panic!" in made


def test_what_rust_has_for_tests_alone_is_told_from_the_product() -> None:
    before, behind = "fn a() -> u8 { 1 }\n", "#[cfg(not(test))]\nfn c() {}\nmod inner { #[cfg(test)] mod tests {} }\n"
    tests = (
        "// of a\n#[cfg(test)]\n#[allow(unused)]\nmod tests { use super::*; #[test] fn it() { assert_eq!(a(), 1); } }\n"
    )
    product, inline = inline_tests(before + tests + behind)
    assert (product.replace("// of a\n", "").split(), inline.strip()) == (
        (before + behind).split(),
        tests.removeprefix("// of a\n").strip(),
    )
    assert inline_tests(before) == (before, "")


def test_an_example_in_a_comment_of_rust_has_no_twin() -> None:
    text = "/// ```\n/// a::a();\n/// ```\n#[must_use]\npub fn a() -> u8 {\n    1\n}\n"
    assert twin(text, (), "a (line 1)", "MARK", RUST) is None


def test_the_examples_of_comments_in_rust_are_for_tests() -> None:
    text = "//! Of it.\n\n/// ```\n/// assert_eq!(a::a(), 1);\n/// ```\npub fn a() -> u8 {\n    1 // one\n}\n"
    assert [is_for_tests(text, line) for line in range(1, 9)] == [True, False, True, True, True, False, False, False]


@pytest.mark.parametrize(("seed", "function"), [("", "f"), ("seed#1", "t"), ("long name", "t")])
def test_a_seed_of_a_fuzz_test_of_go_is_false_in_the_function_that_it_is_given_to(seed: str, function: str) -> None:
    text = "package a\n\nfunc FuzzIt(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) { g(n) })\n}\n"
    classes, name = (("FuzzIt",), seed) if seed else ((), "FuzzIt")
    assert f'}}(); {function}.Fatal("MARK")' in (twin(text, classes, name, "MARK", GO) or "")
