"""From a ready node to a process, and its work home: orders, briefs, the integration branch."""
