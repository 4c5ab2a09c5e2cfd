"""Other ways in: hosts, a checkout to verify, a task to judge, a review, a replay."""
