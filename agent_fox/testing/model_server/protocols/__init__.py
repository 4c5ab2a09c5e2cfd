"""The protocols that models are spoken to in: requests into conversations, replies into answers. No HTTP here."""
