"""The words a person types, and what the screen shows. Nothing else."""
