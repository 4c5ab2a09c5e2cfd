"""What a run came to: the account, the story of a node, what agents do just now, what was spent. Read-only."""
