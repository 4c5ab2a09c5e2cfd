"""Programs for those who work on agent_fox. Nothing here ships."""
