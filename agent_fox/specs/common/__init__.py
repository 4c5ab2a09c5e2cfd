"""What several dialects read with: ids in lists, tables that join things, commands, task lists. No dialect is here."""
