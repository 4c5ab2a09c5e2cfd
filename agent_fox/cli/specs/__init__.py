"""Commands about specs: `plan` and `lint`."""
