"""What stands between an agent's word and "done": the close-out gate, independent review, the stop hook."""
