"""No sandbox, as a backend of its own: an explicit choice with a name, never a missing value."""
