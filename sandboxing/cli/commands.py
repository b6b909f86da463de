"""The `sandboxctl` command tree: options and arguments only, each command's work is in its own module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sandboxing.run.machine import Machine

_POLICY_HELP = "Shipped policy name, policy file, or file with a wire permission profile."
_WORKSPACE_HELP = "Workspace root; may be given more than once.  [default: the current directory]"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sandboxctl")
def sandboxctl() -> None:
    """Run commands nobody fully trusts in the strongest sandbox this host offers."""


@sandboxctl.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option("--policy", default="workspace-write", show_default=True, help=_POLICY_HELP)
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    type=click.Path(),
    help="Workspace root; may be given more than once.  [default: the current directory]",
)
@click.option("--cwd", type=click.Path(), help="Where the command starts.  [default: the first workspace]")
@click.option("--timeout", type=float, help="Seconds of wall time; exit 124 when they are over.")
@click.option("--report", type=click.Path(), help="Write outcome, enforcement and denials here as JSON.")
@click.option(
    "--allow-degraded",
    multiple=True,
    metavar="CLASS",
    help="Run although demands of this class cannot be held.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report on standard error instead of prose.")
@click.option(
    "-i",
    "--interactive",
    is_flag=True,
    help="Give the keyboard's lines to the command although its output does not go to the terminal.",
)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def run(  # noqa: PLR0913 - one parameter an option
    context: click.Context,
    *,
    policy: str,
    workspaces: tuple[str, ...],
    cwd: str | None,
    timeout: float | None,
    report: str | None,
    allow_degraded: tuple[str, ...],
    as_json: bool,
    interactive: bool,
    argv: tuple[str, ...],
) -> None:
    """Run ARGV in a sandbox: sandboxctl run [OPTIONS] -- ARGV..."""
    from sandboxing.cli.run import ReportStyle, RunOptions, run_command
    from sandboxing.run.host import Keyboard

    options = RunOptions(
        policy=policy,
        workspaces=workspaces,
        cwd=cwd,
        timeout_s=timeout,
        report=report,
        allow_degraded=frozenset(allow_degraded),
        style=ReportStyle.JSON if as_json else ReportStyle.PROSE,
        keyboard=Keyboard.RELAYED if interactive else Keyboard.NONE,
        argv=argv,
    )
    context.exit(run_command(options))


@sandboxctl.command()
@click.argument("policy", default="workspace-write")
@click.option("--workspace", "workspaces", multiple=True, type=click.Path(), help=_WORKSPACE_HELP)
@click.option("--path", help="Answer for this path alone: exit 0 when the access is allowed, 1 when denied.")
@click.option(
    "--access",
    type=click.Choice(["read", "write", "exec"]),
    help="The access to --path that is asked about.  [default: read]",
)
@click.option("--plan", "with_plan", is_flag=True, help="Print the steps of the plan as well.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def explain(
    context: click.Context,
    *,
    policy: str,
    workspaces: tuple[str, ...],
    path: str | None,
    access: str | None,
    with_plan: bool,
    style: str,
    as_json: bool,
) -> None:
    """Show what POLICY means on this machine and what would hold it, or the answer about one path."""
    from sandboxing.cli.explain import ExplainOptions, Format, explain_command
    from sandboxing.profile.access import Access

    if access is not None and path is None:
        raise click.UsageError("--access needs --path")
    options = ExplainOptions(
        policy=policy,
        workspaces=workspaces,
        path=path,
        access=Access(access or "read"),
        format=Format.JSON if as_json else Format(style),
        with_plan=with_plan,
    )
    context.exit(explain_command(options, _machine(context)))


@sandboxctl.command()
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def doctor(context: click.Context, *, as_json: bool) -> None:
    """Tell what this host can enforce, and try a real sandbox; exit 0 when one works."""
    from sandboxing.cli.doctor import doctor_command

    context.exit(doctor_command(_machine(context), as_json=as_json))


@sandboxctl.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def policies(context: click.Context, *, name: str | None, as_json: bool) -> None:
    """List the policies that ship, or print the document of the one called NAME."""
    from sandboxing.cli.policies import list_policies, print_policy

    context.exit(list_policies(as_json=as_json) if name is None else print_policy(name, as_json=as_json))


@sandboxctl.command()
@click.pass_context
def schema(context: click.Context) -> None:
    """Print the JSON Schema of a policy file."""
    from sandboxing.cli.policies import print_schema

    context.exit(print_schema())


@sandboxctl.command()
@click.argument("policies", metavar="POLICY...", nargs=-1, required=True)
@click.option("--workspace", "workspaces", multiple=True, type=click.Path(), help=_WORKSPACE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def check(
    context: click.Context, *, policies: tuple[str, ...], workspaces: tuple[str, ...], as_json: bool
) -> None:
    """Read each POLICY strictly and hold it to its own tests; exit 1 when anything is found."""
    from sandboxing.cli.check import check_command

    context.exit(check_command(policies, workspaces, _machine(context), as_json=as_json))


def _machine(context: click.Context) -> Machine:
    """The machine that a test gave, or this one."""
    from sandboxing.cli.prose import say_error
    from sandboxing.contract.outcome import EXIT_SETUP_FAILED
    from sandboxing.errors import SandboxctlError
    from sandboxing.run.machine import Machine, this_machine

    if isinstance(context.obj, Machine):
        return context.obj
    try:
        return this_machine()
    except SandboxctlError as error:
        say_error(error)
        context.exit(EXIT_SETUP_FAILED)
