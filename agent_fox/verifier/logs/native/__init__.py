"""Logs of compilers, linkers and builds of C and C++."""
