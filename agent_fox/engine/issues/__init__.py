"""What people are told: effects written with a decision, delivered after it, and kept in order."""
