"""What all tests begin with."""

from __future__ import annotations

import os
import signal

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background with SIGINT ignored, and so would be all that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is kept outside of repositories lies in a folder of this run's, not in a person's."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state-home"))
