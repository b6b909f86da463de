"""Makes `python -m execserver.cli` the same as the `execserver` command."""

from execserver.cli.command import main

if __name__ == "__main__":
    main()
