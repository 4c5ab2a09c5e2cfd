"""Anti-gaming checks: whether a change makes tests, linters or CI say less than they did. Running them is elsewhere."""
