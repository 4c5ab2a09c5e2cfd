"""The metering proxy between one agent's program and its model."""
