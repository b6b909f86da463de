"""The sans-I/O core: sessions, processes, sequence numbers, retention, admission."""
