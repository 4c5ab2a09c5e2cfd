"""Any agent that speaks the Agent Client Protocol: what is said to it, and what its messages mean."""
