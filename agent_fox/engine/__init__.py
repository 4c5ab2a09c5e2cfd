"""The shell around the core: results, scheduling, effects. Rules that the core could hold are not here."""
