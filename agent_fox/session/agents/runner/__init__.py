"""The runner of one session: it starts the agent's program, listens, watches over it and reports."""
