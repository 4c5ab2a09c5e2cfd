"""One agent at work: lifecycle, backends, workspaces, briefs. Never decides, never touches the store."""
