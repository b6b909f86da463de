"""Running one command in the foreground of whoever called us: its terminal, its streams, its signals."""
