"""Sessions on other hosts: what is sent to a worker, what comes back, and who hands it over."""
