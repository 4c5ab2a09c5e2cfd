"""Values that the whole verifier shares: orders, results, cases of tests, sources as text."""
