"""What a result's transaction reads and writes: the case, its history, gates, and what follows for other nodes."""
