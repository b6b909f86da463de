"""The doors to the outside: sockets, streams, files and the sandbox."""
