"""The backend `scripted`: a script, the agent that plays its steps as a real process, and what starts that."""
