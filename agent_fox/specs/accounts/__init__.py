"""Where each item of a spec's documents went: the outline of a document, and the account of it."""
