"""What is to be done: specs, ids that last, the graph, and a new plan over an old one."""
