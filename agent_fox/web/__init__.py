"""The page about a run: a file that needs no network, and the same page live on loopback. Decides nothing."""
