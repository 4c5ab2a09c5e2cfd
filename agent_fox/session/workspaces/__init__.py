"""A launch's own checkout: made, filled, looked through, taken as a commit, landed."""
