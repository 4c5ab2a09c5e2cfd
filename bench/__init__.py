"""Measured figures of agent_fox, each beside a floor that was measured in the same run. Run it: `python -m bench`."""
