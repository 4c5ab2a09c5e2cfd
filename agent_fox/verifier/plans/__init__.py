"""The steps that a change must pass, chosen and carried out, and the one door to the verifier's tools."""
