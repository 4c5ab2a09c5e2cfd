"""Secrets taken out of text: by exact value, by shape, by the words beside them."""
