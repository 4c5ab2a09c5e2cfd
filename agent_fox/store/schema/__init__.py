"""The schema of the state file: tables, guards, views, and the migrations to them."""
