"""A scripted model on loopback, so that real agent command lines work end to end without a model.

Nothing here calls out; for tests and demonstrations alone.
"""

from agent_fox.testing.model_server.records import Exchange
from agent_fox.testing.model_server.script import Script, read_model_script
from agent_fox.testing.model_server.server import ModelServer

__all__ = ["Exchange", "ModelServer", "Script", "read_model_script"]
