"""Commands of the verifier: `verify`, `parse-log`, `mcp`."""
