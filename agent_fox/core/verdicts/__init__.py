"""What was said about requirements: answers read, reports, judgements, and how each is known."""
