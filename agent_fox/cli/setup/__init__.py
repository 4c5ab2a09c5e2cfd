"""Commands that set things up, and say whether they stand: `init`, `doctor`, `completion`."""
