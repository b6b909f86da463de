"""denial."""
