"""Where a program can be broken, and its tests made false: by syntax, a module for each language."""
