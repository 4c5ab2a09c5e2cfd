"""The sandbox around a command: bubblewrap, what it shows of the machine, which calls are allowed."""
