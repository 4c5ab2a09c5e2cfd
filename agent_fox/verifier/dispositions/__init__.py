"""Whose a failure is: signs, rules, reruns that tell more, and the list of flaky tests."""
