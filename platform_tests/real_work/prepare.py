"""Everything that needs the network or happens before a run: sources, environments, fresh copies.

Nothing of it runs in a sandbox. It asks whatever package index pip is set up with. Used by `__main__`
and `run`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping

from platform_tests.real_work.projects import Project

_DOWNLOAD_TIMEOUT_S = 300
_INSTALL_TIMEOUT_S = 600
_MOST_LOG_LINES = 40


class PreparationFailed(Exception):
    """Something before the runs failed, so they tell nothing."""


def download(projects: Iterable[Project], folder: str, environment: Mapping[str, str]) -> None:
    """Put the source distribution of every project into `folder`.

    Raises:
        PreparationFailed: pip could not.
    """
    pinned = sorted({(project.distribution, project.version) for project in projects})
    for distribution, version in pinned:
        # `--no-binary` with the one name: with `:all:` pip would build the build backends from source too,
        # only to read metadata that nobody asked for
        _run(
            (
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
                *("--no-deps", "--no-binary", distribution, "--dest", folder, f"{distribution}=={version}"),
            ),
            environment,
            _DOWNLOAD_TIMEOUT_S,
        )


def make_environment(project: Project, folder: str, environment: Mapping[str, str]) -> None:
    """Make a virtual environment with what the project's build and tests need.

    Raises:
        PreparationFailed: pip could not.
    """
    _run((sys.executable, "-m", "venv", folder), environment, _INSTALL_TIMEOUT_S)
    if project.requirements:
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *project.requirements)
        _run((os.path.join(folder, "bin", "python"), *install), environment, _INSTALL_TIMEOUT_S)


def fresh_copy(project: Project, downloads: str, folder: str) -> str:
    """Unpack the project's source below `folder`, which must not exist; the directory to build in.

    Raises:
        PreparationFailed: its source distribution is not there, or has another shape.
    """
    start = f"{project.distribution}-{project.version}"
    archive = os.path.join(downloads, f"{start}.tar.gz")
    os.mkdir(folder, 0o755)
    try:
        with tarfile.open(archive) as source:
            source.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise PreparationFailed(f"cannot unpack `{archive}`: {error}") from error
    top = os.path.normpath(os.path.join(folder, start, project.subdirectory))
    if not os.path.isdir(top):
        raise PreparationFailed(f"cannot use `{archive}`: it has no `{start}/{project.subdirectory}`")
    return top


def _run(argv: tuple[str, ...], environment: Mapping[str, str], timeout_s: float) -> None:
    try:
        done = subprocess.run(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PreparationFailed(f"cannot finish `{' '.join(argv)}`: more than {timeout_s} s") from error
    if done.returncode != 0:
        tail = "\n".join(done.stdout.decode(errors="replace").splitlines()[-_MOST_LOG_LINES:])
        raise PreparationFailed(f"cannot run `{' '.join(argv)}`: exit code {done.returncode}\n{tail}")
