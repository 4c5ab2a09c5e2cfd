"""Runs builds and tests and says what came of it. Knows nothing of MCP or of the plan."""
