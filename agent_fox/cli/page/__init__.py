"""The page about a run, as a file and live."""
