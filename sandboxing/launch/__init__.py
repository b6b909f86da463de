"""Starting and watching processes on POSIX hosts: control channel, launcher, spawner, pod handle."""
