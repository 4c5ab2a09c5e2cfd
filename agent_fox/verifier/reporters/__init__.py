"""Programs that run inside a project's own test tool and write JUnit XML. They import nothing of this package."""
