"""The state file: SQLite through sqlite-utils. Opens, migrates, transacts, queries; holds no rule about verdicts."""
