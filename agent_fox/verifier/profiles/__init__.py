"""What may be run in a project, and how: profiles as data, what a project is made of, and checked command lines.

Runs nothing. `loading` gives profiles, `detect` the build systems of a folder, `prepare` a command for a request.
"""
