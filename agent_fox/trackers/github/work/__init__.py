"""What GitHub shows of work beside issues: pull requests, checks, owners, and commands in comments."""
