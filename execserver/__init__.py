"""execserver: an exec-server whose commands and file operations run under `sandboxing`."""
