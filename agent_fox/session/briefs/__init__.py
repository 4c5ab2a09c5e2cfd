"""What an agent is told: its prompt, its brief, and a project's own words."""
