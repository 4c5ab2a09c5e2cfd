"""A package of its own, as another author would write it: installed by a test, and held to our contracts."""
