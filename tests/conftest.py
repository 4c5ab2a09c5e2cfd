"""What all tests begin with."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background with SIGINT ignored, and so would be all that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
