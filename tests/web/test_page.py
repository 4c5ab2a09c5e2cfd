"""The page in a real browser: what it answers, to whom, how fast, and what it never does. The documents are made up."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect
from pypdf import PdfReader

from agent_fox.engine.account.run_document import RunDocument
from agent_fox.web.charts import hunks
from agent_fox.web.page import page as html_of
from tests.web.conftest import Open
from tests.web.models import ASSERTION, FAILING, HOSTILE, hostile, of_size, text_of, waiting

GOLDEN = Path(__file__).parent / "golden"
TAKEN = "taken"
MOST_BYTES = 3 * 1024 * 1024
MOST_DIFFERENCE = 10
"""Of 255: another font makes 1 to 3, a page without cards 11 to 14, one without its style 16 to 26."""


def test_nothing_is_asked_for_and_nothing_is_complained_of(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    page.wait_for_timeout(200)
    assert page.asked == []  # type: ignore[attr-defined]
    assert page.said == []  # type: ignore[attr-defined]


def test_the_first_screen_of_a_hundred_nodes(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    banner = page.get_by_role("status")
    expect(banner.get_by_role("heading", name="NOT PROVEN")).to_be_visible()
    expect(banner).to_contain_text("3 requirements fail; 147 of 150 proven")
    order = page.locator("main > section").evaluate_all("sections => sections.map(section => section.id)")
    assert order[:5] == ["needs", "heat", "plan", "time", "cost"]
    cards = page.locator(".card")
    expect(cards).to_have_count(3)
    expect(cards.first.get_by_role("heading")).to_have_text(text_of("07_spec", 1))
    expect(cards.first).to_contain_text(ASSERTION)
    first = page.locator("tr.req").first
    assert first.locator("td.cell").all_inner_texts() == ["P", "F", "F", "F"]
    expect(first.get_by_title("FAIL, it had passed")).to_have_count(1)
    specs = page.locator(".heat-spec h3 a").all_inner_texts()
    assert specs[:3] == list(FAILING)
    assert len(specs) == 25


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier(opened: Open, hundred_nodes: RunDocument, scheme: str) -> None:
    page = opened(hundred_nodes, color_scheme=scheme)
    for fragment in ("", "#req/07_spec/07-REQ-1.1", "#session/2"):
        page.goto(page.url.partition("#")[0] + fragment)
        found = Axe().run(page).response["violations"]
        assert [
            (each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")
        ] == []


def test_the_failing_assertion_is_two_keys_away(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    drawer = page.locator("[id='req/07_spec/07-REQ-1.1']")
    expect(drawer).to_be_visible()
    expect(drawer.locator("details[open]").first).to_contain_text(ASSERTION)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("[id='req/15_spec/15-REQ-1.1']")).to_be_visible()
    page.go_back()
    expect(page.locator("[id='req/15_spec/15-REQ-1.1']")).to_be_hidden()


def test_the_other_keys(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("22_spec")
    expect(page.locator("tr.req:visible")).to_have_count(6)
    expect(page.locator("#match-count")).to_have_text("6 shown")


def test_a_hundred_nodes_fit_into_a_mail(hundred_nodes: RunDocument) -> None:
    assert len(html_of(hundred_nodes).encode()) <= MOST_BYTES


def test_ten_thousand_requirements_are_all_there_and_what_is_left_out_is_counted(opened: Open) -> None:
    page = opened(of_size(200, 50, 1))
    assert page.locator("tr.req").count() == 10_000
    drawers = page.locator(".drawer[id^='req/']").count()
    left_out = 10_000 - drawers
    assert left_out > 0
    expect(page.locator("#cuts")).to_contain_text(f"The details of {left_out} proven requirements")
    for name in FAILING:
        assert page.locator(f"[id='req/{name}/{name[:2]}-REQ-1.1']").count() == 1


def test_it_prints_on_four_pages_with_what_fails(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    text = " ".join(" ".join(sheet.extract_text() for sheet in printed.pages).split())
    assert len(printed.pages) <= 4
    for name in FAILING:
        assert text_of(name, 1) in text
    assert text.count(ASSERTION) >= len(FAILING)


def test_texts_of_others_do_nothing(opened: Open) -> None:
    page = opened(hostile())
    page.wait_for_timeout(200)
    for number in range(1, len(HOSTILE) + 1):
        page.evaluate("id => { location.hash = id }", f"req/{number:02}_spec/{number:02}-REQ-1.1")
    page.locator("[id='session/1'] details").first.evaluate("part => { part.open = true }")
    page.wait_for_timeout(100)
    assert TAKEN not in page.title()
    assert page.asked == []  # type: ignore[attr-defined]
    assert page.said == []  # type: ignore[attr-defined]
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    model = json.loads(page.locator("#model").text_content() or "")
    assert model["requirements"][0]["text"] == HOSTILE[0]
    text = page.content()
    assert not re.search("[\x00-\x08\x1b\u202e\u2066\u2028]|ghp_a", text)
    assert "{{ 7 * 7 }}" in text


def test_every_number_of_the_model_is_on_the_page(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    model = json.loads(page.locator("#model").text_content() or "")
    by_spec = {spec["name"]: spec for spec in model["account"]["specs"]}
    for block in page.locator(".heat-spec").all():
        name = block.get_attribute("data-spec") or ""
        spec = by_spec[name]
        assert block.locator(".count").first.inner_text() == f"{len(spec['proven'])} of {spec['expected']}"
    expect(page.get_by_role("status")).to_contain_text(f"${model['account']['cost']['known_usd']:.2f}")
    rows = page.locator("tr.req").evaluate_all("rows => rows.map(row => [row.dataset.spec, row.dataset.state])")
    for name, spec in by_spec.items():
        assert rows.count([name, "failing"]) == len(spec["failing"])
        assert rows.count([name, "proven"]) == len(spec["proven"])
    nodes = page.locator("#plan svg a").count()
    assert nodes == len(model["nodes"])
    assert page.locator("#time svg a").count() == len(model["sessions"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 768, 1440])
def test_it_looks_as_it_did(opened: Open, hundred_nodes: RunDocument, width: int, scheme: str) -> None:
    """The first screen, coarsely: fonts differ from machine to machine. `python -m tests.web.write_golden` writes it
    anew."""
    page = opened(hundred_nodes, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    seen = small(page.screenshot())
    kept = Image.open(GOLDEN / f"{width}-{scheme}.png").convert("RGB")
    assert seen.size == kept.size
    assert max(ImageStat.Stat(ImageChops.difference(seen, kept)).mean) <= MOST_DIFFERENCE


def small(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return image.resize((image.width // 15, image.height // 15), Image.Resampling.BOX)


QUESTIONS = {
    "what fails": text_of("07_spec", 1),
    "why": ASSERTION,
    "what now": "agent-fox explain 07_spec:4",
    "what did it cost": "$25.00",
}


def test_the_four_questions_are_answered_on_the_first_screen(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    for question, answer in QUESTIONS.items():
        place = page.get_by_text(answer).first
        expect(place, question).to_be_in_viewport()


def test_without_scripts_it_answers_too(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes, java_script_enabled=False)
    for answer in QUESTIONS.values():
        expect(page.get_by_text(answer).first).to_be_in_viewport()
    page.locator("tr.req a").first.click()
    expect(page.locator("[id='req/07_spec/07-REQ-1.1']")).to_be_visible()


def test_the_log_that_evidence_names_is_a_command_and_no_address(opened: Open, hundred_nodes: RunDocument) -> None:
    story = next(story for story in hundred_nodes.requirements if story.id == "07-REQ-1.1")
    seen = f"{ASSERTION}\nlog: artifact://run/3/checks.log\ntests/test_it.py:3"
    told = replace(story, readings=tuple(replace(each, evidence=seen) for each in story.readings))
    rest = tuple(each for each in hundred_nodes.requirements if each is not story)
    page = opened(replace(hundred_nodes, requirements=(told, *rest)))
    page.goto(page.url + "#req/07_spec/07-REQ-1.1")
    drawer = page.locator("[id='req/07_spec/07-REQ-1.1'] details[open]").first
    expect(drawer.locator("pre")).to_have_text(f"{ASSERTION}\ntests/test_it.py:3")
    expect(drawer.get_by_text("agent-fox logs artifact://run/3/checks.log", exact=True)).to_be_visible()


def test_a_command_is_copied(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".card .copy").first.click()
    expect(page.locator(".card .copy").first).to_have_text("copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == "agent-fox explain 07_spec:4"


def test_what_changed_since_it_was_looked_at(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(hundred_nodes)
    page.get_by_role("button", name="Mark all as seen").click()
    page.get_by_label("changed since I looked").check()
    expect(page.locator("#match-count")).to_have_text("0 shown")
    page.locator("tr.req").first.evaluate("row => { row.dataset.seen = 'proven.9' }")
    page.get_by_label("changed since I looked").dispatch_event("input")
    expect(page.locator("#match-count")).to_have_text("1 shown")


def test_a_large_plan_is_drawn_by_spec(opened: Open) -> None:
    page = opened(of_size(80, 1, 1))
    expect(page.locator("#plan svg a")).to_have_count(80)
    expect(page.locator("#plan")).to_contain_text("one box a spec")


CHANGED = """\
diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1,4 +1,5 @@
 same
-first old
-second old
+first new
+second new
+third new
 after it
"""


@pytest.mark.parametrize(("width", "is_beside"), [(1000, True), (1440, True), (999, False), (375, False)])
def test_what_was_and_what_is_stand_side_by_side_where_there_is_room(
    opened: Open, hundred_nodes: RunDocument, width: int, is_beside: bool
) -> None:
    first, *rest = hundred_nodes.sessions
    page = opened(
        replace(hundred_nodes, sessions=(replace(first, diff=CHANGED), *rest)), viewport={"width": width, "height": 900}
    )
    page.evaluate("() => { location.hash = 'session/1' }")
    drawer = page.locator("[id='session/1']")
    expect(drawer.locator(".echo").first).to_be_visible(visible=is_beside)
    place = {words: drawer.get_by_text(words, exact=True).bounding_box() for words in
             ("-first old", "-second old", "+first new", "+second new", "+third new")}  # fmt: skip
    boxes = {words: (box["x"], box["y"]) for words, box in place.items() if box}
    assert len(boxes) == 5
    tops = [y for _, y in boxes.values()]
    if is_beside:
        assert [tops[2], tops[3]] == [tops[0], tops[1]]
        assert boxes["+third new"][1] > tops[1]
        assert boxes["+first new"][0] >= boxes["-first old"][0] + width / 4
    else:
        assert tops == sorted(set(tops))
        assert len({x for x, _ in boxes.values()}) == 1
    assert drawer.evaluate("part => part.scrollWidth <= part.clientWidth")


def test_waits_are_in_the_timeline_and_in_its_table(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(waiting(hundred_nodes))
    marks = page.locator("#time svg .wait")
    expect(marks).to_have_count(3)
    assert "01_spec:2 waited: rate limit: API Error: 429" in (marks.first.text_content() or "")
    lane, run = (marks.nth(number).locator("rect").get_attribute("height") for number in (0, 2))
    assert int(run or 0) > int(lane or 0)
    page.locator("details.waits summary").click()
    rows = page.locator("details.waits tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("rate limit")
    assert rows.nth(2).locator("td").all_inner_texts()[2] == "10 min 00 s"
    assert Axe().run(page, context="#time").response["violations"] == [], (
        "the timeline with waits can be read by everybody"
    )


def test_a_sessions_events_have_their_times_in_drawer_and_timeline(opened: Open, hundred_nodes: RunDocument) -> None:
    page = opened(waiting(hundred_nodes))
    page.evaluate("() => { location.hash = 'session/2' }")
    drawer = page.locator("[id='session/2']")
    drawer.get_by_text("What its tools did").click()
    assert [" ".join(text.split()) for text in drawer.locator("ol.events li").all_inner_texts()] == [
        "08:01:01 Edit src/cart.py 1.0 s", "08:01:04 Bash make check 3.5 s failed", "end",
    ]  # fmt: skip
    (marks,) = page.locator("#time svg .calls").evaluate_all("marks => marks.map(mark => mark.getAttribute('d'))")
    assert marks.count("M") == 2


def test_events_of_before_times_were_recorded_are_shown_without(opened: Open, hundred_nodes: RunDocument) -> None:
    first, *rest = hundred_nodes.sessions
    old = ({"kind": "call", "tool": "Bash", "edits": [], "command": "ls"}, {"kind": "done", "tool": "Bash"})
    odd = (
        {"kind": "call", "call": [1], "at": 7, "edits": "x", "tool": {}},
        {"kind": "done", "call": 9, "tool": "Read"},
    )
    page = opened(replace(hundred_nodes, sessions=(replace(first, events=(*old, *odd)), *rest)))
    lines = page.locator("[id='session/1'] ol.events li").all_text_contents()
    assert [" ".join(text.split()) for text in lines] == ["Bash ls", "done Bash", "call", "done Read"]
    expect(page.locator("#time svg .calls")).to_have_count(0)


@pytest.mark.parametrize(
    "diff", [CHANGED, CHANGED * 2, "-a\n+b\n-c\n", "@@ -1 +1 @@\n--- a\n+++ b\n", "", "no diff\n\nat all"]
)
def test_no_line_of_a_difference_is_lost_or_moved(diff: str) -> None:
    assert [line for hunk in hunks(diff) for line in (*hunk.old, *hunk.new)] == diff.rstrip("\n").split("\n")
