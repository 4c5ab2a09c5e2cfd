"""Spec folders of each dialect become core values and a plan. Knows nothing of running."""
