"""An old name of `agent_fox.engine.record.docket`; whoever imports it is warned."""

from agent_fox.core.late import moved

__getattr__ = moved(__name__, "agent_fox.engine.record.docket")
