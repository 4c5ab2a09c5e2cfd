"""The engine as it is, in one process, on a made world: time, disk, git, runner and tracker do what a seed says."""
