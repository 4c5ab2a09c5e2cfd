"""JSON and XML read as they come, with a bound on what is kept."""
