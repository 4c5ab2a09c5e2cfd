"""Real agent command lines as backends: what each is started with, what its events mean, how its session is watched."""
