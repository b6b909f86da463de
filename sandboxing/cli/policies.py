"""`sandboxctl policies` and `schema`: what ships, the text of one of them, and the format's JSON Schema.

It reads nothing of the caller's and decides nothing.
"""

from __future__ import annotations

import json
import textwrap

import click

from sandboxing.cli.explain_text import WIDEST
from sandboxing.cli.prose import printable, say_error
from sandboxing.contract.outcome import EXIT_SETUP_FAILED
from sandboxing.errors import PolicyError
from sandboxing.policyfile.schema import policy_schema
from sandboxing.policyfile.shipped import load_shipped, shipped_names, shipped_text

POLICIES_VERSION = 1
"""Version of the JSON shape of the list."""


def list_policies(*, as_json: bool) -> int:
    """Print name and description of every shipped policy; returns the exit code."""
    documents = [load_shipped(name) for name in shipped_names()]
    if as_json:
        policies = [{"name": document.name, "description": document.description} for document in documents]
        click.echo(json.dumps({"version": POLICIES_VERSION, "policies": policies}, indent=2))
        return 0
    column = max((len(document.name) for document in documents), default=0) + 2
    for document in documents:
        lines = textwrap.wrap(
            printable(document.description),
            width=WIDEST,
            initial_indent=document.name.ljust(column),
            subsequent_indent=" " * column,
        )
        for line in lines or [document.name]:
            click.echo(line)
    return 0


def print_policy(name: str, *, as_json: bool) -> int:
    """Print the document of a shipped policy; returns the exit code."""
    try:
        text = shipped_text(name)
    except PolicyError as error:
        say_error(error)
        return EXIT_SETUP_FAILED
    if as_json:
        click.echo(json.dumps({"version": POLICIES_VERSION, "name": name, "text": text}, indent=2))
    else:
        click.echo(text, nl=not text.endswith("\n"))
    return 0


def print_schema() -> int:
    """Print the JSON Schema of a policy file; returns the exit code."""
    click.echo(json.dumps(policy_schema(), indent=2))
    return 0
