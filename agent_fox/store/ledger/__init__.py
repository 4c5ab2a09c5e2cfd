"""The evidence ledger in the state file: written with each row, chained, and held against the rows."""
