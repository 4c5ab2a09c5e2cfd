"""Commands about issues."""
