"""An order survives being written and read, and what is wrong with one is named."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Trace
from agent_fox.verifier.ground.order import CheckOrder, OrderError, Untested, read_order, write_order


def test_an_order_survives_being_written_and_read() -> None:
    order = CheckOrder(
        {"04-REQ-1.1": "THE cart SHALL add"},
        commands={"Spec tests": "pytest"},
        traceability=(Trace("04-REQ-1.1", ("TS-04-1",), ("2.1",), ("test_a.py",)),),
        test_specs={"TS-04-1": ("04-REQ-1.1",)},
        untested=Untested.UNKNOWN,
        timeout=1.5,
    )
    assert read_order(write_order(order)) == order


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"expected": {"a": 1}}', "expected.a"),
        ('{"expected": {}, "colour": 1}', "colour"),
        ('{"expected": {}, "untested": "maybe"}', "untested"),
        ("{}", "expected"),
        ('{"expected": {}, "reports": ["/tmp/*.xml"]}', "/tmp/"),
        ('{"expected": {}, "reports": ["../*.xml"]}', "inside the workspace"),
        ('{"expected": {}, "timeout": 0}', "timeout"),
        ("nonsense", "the document"),
    ],
)
def test_what_is_wrong_with_an_order_is_named(text: str, named: str) -> None:
    with pytest.raises(OrderError, match=named):
        read_order(text)
