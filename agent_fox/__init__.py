"""agent_fox: a plan of coding-agent work is done when evidence says so, and never before."""
