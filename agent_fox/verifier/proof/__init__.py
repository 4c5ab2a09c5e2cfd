"""Whether what passes could fail: places of a program that can be broken, and what the tests then say."""
