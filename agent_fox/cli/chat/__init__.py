"""Commands for chats with agents: review tasks and hooks."""
