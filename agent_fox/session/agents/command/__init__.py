"""Any command, held like an agent's program: it gets a prompt, works, and prints its answer."""
