"""The verifier's tools over the Model Context Protocol (extra `mcp`). What is verified, and how, is the verifier's."""
