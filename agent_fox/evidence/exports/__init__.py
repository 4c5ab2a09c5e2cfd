"""The ledger for another machine, and checking what came from one."""
