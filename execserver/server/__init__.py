"""The running server: connections, sessions and the handlers of the methods."""
