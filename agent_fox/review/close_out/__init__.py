"""A task's close-out: the files it is closed with, its change, its report and its record."""
