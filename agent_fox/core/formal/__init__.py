"""What can be checked by formulas: specifications, temporal formulas, contracts, theorems."""
