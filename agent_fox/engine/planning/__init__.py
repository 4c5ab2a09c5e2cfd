"""From settings and files to the plan of the state, and what a run of it would do."""
