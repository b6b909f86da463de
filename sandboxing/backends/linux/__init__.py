"""linux."""
