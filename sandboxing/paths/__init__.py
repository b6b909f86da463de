"""Paths as portable URIs and as native text of a named convention; nothing here asks a file system."""
