"""What ships for tests: scripted doubles and builders of small worlds. Nothing else may import it."""
