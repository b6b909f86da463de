"""The `sandboxctl` program's first line; it imports the commands only when it runs."""


def main() -> None:
    """Run the command line of this process and exit with its code."""
    from sandboxing.cli.commands import sandboxctl

    sandboxctl.main(prog_name="sandboxctl")
