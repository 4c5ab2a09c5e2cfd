"""The dialect of agent-fox: Markdown and JSON documents."""
