"""A fake GitHub with issues, comments, labels, limits, faults and people, in process or on loopback.

Nothing here calls out; for tests and demonstrations alone.
"""

from agent_fox.testing.github import faults
from agent_fox.testing.github.fake import GitHubFake
from agent_fox.testing.github.faults import Break, Fault, Say
from agent_fox.testing.github.mount import mounted
from agent_fox.testing.github.server import serve
from agent_fox.testing.github.state import Grant, Role
from agent_fox.testing.github.wire import Answer, Manner, Request

__all__ = [
    "Answer",
    "Break",
    "Fault",
    "GitHubFake",
    "Grant",
    "Manner",
    "Request",
    "Role",
    "Say",
    "faults",
    "mounted",
    "serve",
]
