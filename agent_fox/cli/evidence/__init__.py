"""Commands about evidence: ledger, keys, waivers, agreements, hidden checks, gate, library."""
