"""Where issues go, and how they are delivered from the outbox. Decides nothing."""
