"""spec-kit's features: spec.md, plan.md and tasks.md of one folder. Other dialects are not read here."""
