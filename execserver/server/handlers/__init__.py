"""The handlers of the methods, one module per family; each has one `handle` function."""
