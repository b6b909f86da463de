"""The only home of ctypes in the Linux backend: one function per system call, errno becomes OSError."""
