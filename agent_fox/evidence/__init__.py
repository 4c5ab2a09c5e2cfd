"""What was proven, by what, and whether it still holds: ledger, gates, waivers, specifications. Decides nothing."""
