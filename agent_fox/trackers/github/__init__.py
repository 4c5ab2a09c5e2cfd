"""GitHub as the place where issues go. Only what is in this package imports PyGithub, and nothing imports this package
before the settings ask for it."""
