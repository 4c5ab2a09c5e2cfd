"""What is source in a workspace, whether it changed, and trees of other commits beside it."""
