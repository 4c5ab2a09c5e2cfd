"""What the tests of each language say."""
