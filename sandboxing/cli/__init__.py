"""The command line: all prose for people, all exit codes, nothing else."""
