"""What happens next: the decision table, progress, standings, the best tree, one issue for a cause."""
