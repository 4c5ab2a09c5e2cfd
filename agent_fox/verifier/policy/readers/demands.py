"""What calls demand: assertions by their names and arguments, chains as `expect(x).not.toBe(3)`, expected errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, flat, is_literal, number_of
from agent_fox.verifier.policy.readers.calls import LONGEST_SHOWN, Argument, Call, Link
from agent_fox.verifier.policy.readers.conditions import Conditions
from agent_fox.verifier.policy.readers.trees import is_a, text_of, tokens
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.tables import demands, says, words_of

_ANY_TEXT = frozenset({"", ".*", ".+", ".", "(.*)", "[\\s\\S]*", "\\w*", ".*?"})
_OF_ONE = frozenset({"is none", "is something", "error", "something"})
_OF_TWO = frozenset({"equal", "same", "not equal", "<", "<=", ">", ">="})
_C_ASSERTS = regex(r"(?i)\w*(?:assert|expect|check|require|verify|test|fail_unless|fail_if)\w*")
_EMPTY_MATCHER = regex(r"Containing\(\s*(?:\{\s*\}|\[\s*\]|['\"`]{2})")


class Demands(Conditions):
    def __init__(self, call: Call, language: str) -> None:
        super().__init__(language, call.line)
        self.call = call

    def all(self) -> tuple[Assertion, ...]:
        """None where it is no assertion that is known."""
        forms = (self._raising, self._of_values, self._of_chain)
        demanded = next(filter(None, (tuple(form()) for form in forms)), ())
        if not demanded and self.is_failing():
            demanded = (Assertion(("fail",), "fails", Strength.EXACT, self.line),)
        is_told = demanded and self.language not in ("python", "go")
        text = text_of(self.call.node)[:LONGEST_SHOWN] if is_told else ""
        return tuple(each._replace(text=text) for each in demanded) if is_told else demanded

    def custom(self) -> Assertion | None:
        """Of something that asserts by its name, defined elsewhere: taken for exact, by its name and arguments."""
        if not self.call.given or not self.call.word.startswith(tuple(words_of(self.language, "asserting"))):
            return None
        subject, *others = (each.tokens for each in self.call.given)
        return Assertion(subject, self.call.word, Strength.EXACT, self.line, flat(others))

    def is_raising(self) -> bool:
        return self.call.word in words_of(self.language, "raisers")

    def is_failing(self) -> bool:
        is_failure = self.call.word in words_of(self.language, "fails")
        return is_failure and (self.language != "python" or all(link.word != "pytest" for link in self.call.links))

    def raised(self, subject: Tokens) -> Assertion:
        """`raises(KeyError, match=...)` about `subject`: partial with a class of errors, or with a message."""
        error = self.call.given[0].tokens if self.call.given else ()
        message = self.call.named.get("match", ())
        if self.call.word.endswith("Regex") and len(self.call.given) > 1:
            message = self.call.given[1].tokens
        message = () if " ".join(message).strip("rR'\"^$") in _ANY_TEXT else message
        return self._error(subject, error, message)

    def _error(self, subject: Tokens, error: Tokens, message: Tokens = ()) -> Assertion:
        """An error that is to come; every error will do where none, or one of the broadest, is named."""
        broad, is_made = words_of(self.language, "broad"), "(" in error[1:]
        is_named = not is_made and not broad.isdisjoint(token for token in error if token.isidentifier())
        is_broad = is_named or "".join(error) in broad
        strength = Strength.LOOSE if not message and (is_broad or not error) else Strength.PARTIAL
        return self.demand(subject, "raises", strength, error)._replace(detail=message, strength=strength)

    def _raising(self) -> Iterator[Assertion]:
        given = self.call.given if self.is_raising() else ()
        if len(given) > (2 if self.call.word.endswith("Regex") else 1):
            is_python = self.language == "python"
            rest = flat(each.tokens for each in given[1:]) if is_python else given[1].called
            yield self.raised(rest) if is_python else self._error(rest, given[0].tokens)

    def _of_values(self) -> Iterator[Assertion]:
        """Assertions by their names: what is looked at and what is expected are arguments."""
        language, word, table = self.language, self.call.word, demands(self.language, "calls")
        if not self._asserts(table) or not (self.call.given or language == "cpp"):
            return
        word = re.sub(r"^(?:debug_|prop_)", "", word) if language == "rust" else word
        word = "ok" if language == "javascript" and len(self.call.links) == 1 else word
        given = list(self.call.given)[1 if language == "go" else 0 :]
        operator, strength = _ending(word) if language == "cpp" else table.get(word, (word, Strength.EXACT))
        values = [each.tokens for each in self._in_order(given, operator)]
        subject, expected = (*values, (), ())[:2]
        if operator in ("truthy", "falsy") or (not operator and values and not expected):
            yield from [self.fails(subject)] if operator == "falsy" else self.holds(subject)
        elif operator == "raises":
            yield self._error(given[0].called, expected)
        elif operator in _OF_ONE or (not expected and word in table):
            yield self.demand(subject, operator, strength)
        elif (tolerance := self._tolerance(operator, values)) is not None:
            yield self.demand(subject, "close", Strength.EXACT, expected, tolerance)
        elif operator in _OF_TWO:
            yield from self.compared(subject, operator, strength, expected)
        else:
            expected = expected if word in table or language == "javascript" else flat(values[1:])
            yield self.demand(subject, operator or word, strength, expected)

    def _asserts(self, table: Iterable[str]) -> bool:
        """Whether a call is an assertion by its name, or by what it is asked of."""
        call, roots, is_script = self.call, words_of(self.language, "asserting_roots"), self.language == "javascript"
        if self.language == "cpp":
            return _C_ASSERTS.fullmatch(call.word) is not None
        if self.language == "rust":
            is_macro = is_a(call.node, "macro_invocation")
            return is_macro and call.word.removeprefix("debug_").startswith(tuple(words_of("rust", "asserting")))
        if not roots:
            return call.word in table
        root = call.links[0].word
        is_of_test = root == "t" and len(call.links) == 2 and is_script and call.word in table
        return is_of_test or (root in roots and (is_script or len(call.given) > 1))

    def _in_order(self, given: list[Argument], operator: str) -> list[Argument]:
        """The arguments with what is looked at first; a message that JUnit 4 has before them goes."""
        is_java, is_c = self.language == "java", self.language == "cpp"
        if is_java and (operator in _OF_ONE or operator in ("truthy", "falsy")):
            return [next((each for each in given if not each.is_text), given[0])]
        has_message = is_java and len(given) > 2 and given[0].is_text and not given[2].is_text
        given = given[1:] if has_message and number_of(given[-1].tokens) is None else given
        is_turned = is_java or (self.language == "go" and operator == "equal") or (is_c and operator not in _OF_ONE)
        if len(given) > 1 and is_turned and (not is_c or is_literal(given[0].tokens)):
            return [given[1], given[0], *given[2:]]
        return given

    def _tolerance(self, operator: str, values: list[Tokens]) -> float | None:
        """How near a value must come: by a number, by decimals or, of numpy, relatively or by significant digits."""
        if operator in ("equal", "not equal") and self.language == "java" and len(values) > 2:
            return number_of(values[2]) if operator == "equal" else None
        places_of = {"assert_allclose": ("rtol", "atol"), "assert_approx_equal": ("significant",)}
        given = {name: number_of(value) for name, value in self.call.named.items()}
        if operator == "close":
            places = given.get("places")
            return given.get("delta") if places is None else float(0.5 * 10.0**-places)
        if operator != "near":
            return None
        given |= dict(zip(places_of.get(self.call.word, ("decimal",)), map(number_of, values[2:]), strict=False))
        usual = {"rtol": 1e-7, "atol": 0.0, "significant": 7.0, "decimal": 6.0}
        known = usual | {name: value for name, value in given.items() if value is not None}
        size = abs(number_of(values[1]) or 1.0)
        if self.call.word == "assert_allclose":
            return max(known["rtol"] * size, known["atol"])
        if self.call.word == "assert_approx_equal":
            return float(size * 10.0 ** (1 - known["significant"]))
        return float(1.5 * 10.0 ** -known["decimal"])

    def _of_chain(self) -> Iterator[Assertion]:
        (root, *links), words = self.call.links, [link.word for link in self.call.links]
        if links and (of_mock := demands(self.language, "mocks").get(self.call.word)):  # `mock.assert_called_with(3)`
            owner = tokens(links[-1].owner)
            yield Assertion(owner, self.call.word, of_mock[1], self.line, _listed(self.call.given))
        elif self.language == "java" and root.given:
            if root.word in words_of("java", "roots"):
                yield from self._of_links(root, root.given, links) if links else self._of_matcher(root.given)
            elif root.word == "verify" and links:
                yield self._verified(root.given, links[0])
        elif self.language == "javascript" and root.word == "expect" and root.given and links:
            modes = tuple(word for word in words[1:] if word in ("resolves", "rejects", "all"))
            subject = (*(mode for mode in modes if mode != words[-1]), *root.given[0].called)
            is_lost = "catch" in words or is_a(
                self.call.node.parent, "expression_statement"
            )  # not awaited, nor returned
            is_dropped = is_lost and not {"resolves", "rejects", "eventually"}.isdisjoint(words)
            demanded = self._judged(subject, links)
            yield from (each._replace(strength=Strength.NONE) if is_dropped else each for each in demanded)
        elif self.language == "javascript" and "should" in words:
            before, after = self.call.links[: words.index("should")], self.call.links[words.index("should") :]
            subject = flat((link.word, *(("(", ")") if link.given is not None else ())) for link in before)
            yield from self._judged(subject, after)

    def _of_links(self, root: Link, given: Iterable[Argument], links: list[Link]) -> Iterator[Assertion]:
        """`assertThat(x).isNotNull().isEqualTo(3)`, `assertThatThrownBy(…).isInstanceOf(…)`: each link is a demand."""
        subject = next(iter(given)).called
        for link in links:
            expected = flat(each.tokens for each in link.given or ())
            if "Thrown" in root.word and link.word in ("isInstanceOf", "isExactlyInstanceOf"):
                yield self._error(subject, expected)
            elif link.word == "isInstanceOf" and expected[:1] and expected[0] in words_of("java", "broad"):
                yield self.demand(subject, link.word, Strength.LOOSE, expected)
            else:
                yield from self._judged(subject, [link])

    def _of_matcher(self, given: Iterable[Argument]) -> Iterator[Assertion]:
        """Hamcrest: `assertThat("why", x, is(3))`."""
        parts = [each.tokens for each in given]
        if len(parts) > 1 and parts[-1]:
            subject, (word, *expected) = parts[-2:]
            is_negated, is_exact = word in ("not", "notNullValue", "anything"), word in ("is", "equalTo")
            strength = Strength.LOOSE if is_negated else Strength.EXACT if is_exact else Strength.PARTIAL
            yield self.demand(subject, word, strength, tuple(expected))

    def _verified(self, given: Iterable[Argument], called: Link) -> Assertion:
        mock, often, *_ = (*(each.tokens for each in given), ())
        text = " ".join(often)
        strength = Strength.PARTIAL if "atLeast" in text or "atMost" in text else Strength.EXACT
        strength = Strength.NONE if "atLeast ( 0" in text else strength
        expected = (*_listed(called.given or ()), *often)
        return Assertion((*mock, ".", called.word), "verify", strength, self.line, expected)

    def _judged(self, subject: Tokens, links: list[Link]) -> Iterator[Assertion]:
        """What the matcher at the end of a chain demands; exactly true is one more than truthy."""
        words = [link.word for link in links if link.word not in words_of(self.language, "fillers")] or ["ok"]
        word, is_negated = words[-1], "not" in words[:-1]
        given = next((link.given for link in reversed(links) if link.given is not None), ())
        expected = flat(each.tokens for each in given)
        operator, strength = demands(self.language, "matchers").get(word, (word, Strength.EXACT))
        operator = operator or word
        if given and (operator == "equal" or word in ("toMatchObject", "toHaveBeenCalledWith")):
            text = text_of(given[0].node)  # with matchers of its own it leaves some open
            if any(text.startswith(f"expect.{each}") for each in words_of("javascript", "open")):
                strength = min(strength, Strength.PARTIAL)
            if says("javascript", "anything", text) or _EMPTY_MATCHER.search(text):
                strength = Strength.LOOSE
        if word in words_of(self.language, "throws"):
            yield self._error(subject, expected)._replace(operator=f"{'not ' * is_negated}raises")
        elif word == "toBeCloseTo":
            digits = number_of(given[1].tokens) if len(given) > 1 else 2.0
            tolerance = 0.5 * 10.0**-digits if digits is not None and abs(digits) < 100 else None
            yield self.demand(subject, "close", Strength.EXACT, given[0].tokens if given else (), tolerance)
        elif operator in ("truthy", "falsy") or (operator == "equal" and expected in (("true",), ("false",))):
            is_true, is_exact = expected == ("true",) or operator == "truthy", operator == "equal" and not is_negated
            for each in self.holds(subject) if is_true is not is_negated else [self.fails(subject)]:
                is_raised = is_exact and each.operator in ("truthy", "falsy") and each.strength is not Strength.NONE
                yield each._replace(strength=min(Strength(each.strength + 1), Strength.EXACT)) if is_raised else each
        elif is_negated:
            left = Strength.EXACT if word in words_of("javascript", "all") else min(strength, Strength.PARTIAL)
            left = Strength.LOOSE if word in words_of("javascript", "not_all") else left
            yield self.demand(subject, f"not {operator}", left, expected)
        else:
            yield self.demand(subject, operator, strength, expected)


@cache
def _ending(name: str) -> tuple[str, Strength]:
    """What the name of an assertion in C says by its end, the longest word counting, or that it is of its own kind."""
    table = demands("cpp", "calls")
    ending = re.fullmatch(rf"(?i)(?:.*_)?({'|'.join(sorted(table, key=len, reverse=True))})(?:_message|_msg)?", name)
    operator, strength = table[ending[1].lower()] if ending else ("", Strength.EXACT)
    return operator or (ending[1].lower() if ending else ""), strength


def _listed(given: Iterable[Argument]) -> Tokens:
    return flat((*each.tokens, ",") for each in given)
