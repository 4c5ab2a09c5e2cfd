import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from greeting import greet


def test_it_greets_by_name():
    """01-REQ-1.1"""
    assert greet("Ada") == "Hello, Ada!"


def test_it_greets_a_stranger():
    """01-REQ-1.E1"""
    assert greet("") == "Hello, stranger!"
