"""Logs of Maven and Gradle, and of what they run."""
