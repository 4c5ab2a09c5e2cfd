"""The text of issues and comments on GitHub."""
