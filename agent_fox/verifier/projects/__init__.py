"""What a project is made of: build systems, runners, tools, settings, by manifests alone."""
