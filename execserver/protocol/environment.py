"""The wire types of `initialize`, `environment/info` and `environment/status`.

`initialize` and `environment/info` share `EnvironmentInfo`. Only what this server can do is announced.
"""

from pydantic import Field

from execserver.protocol.wire_model import Flag, Result, Text, WireModel
from sandboxing.paths.uri import PathUri


class NoParams(WireModel):
    """Base of the parameters of methods that have none."""


class EnvironmentInfoParams(NoParams):
    """Parameters of `environment/info`."""


class EnvironmentStatusParams(NoParams):
    """Parameters of `environment/status`."""


class InitializeParams(WireModel):
    """Parameters of `initialize`."""

    client_name: Text
    resume_session_id: Text | None = None


class ShellInfo(WireModel):
    """The login shell; `path` is native, not a URI."""

    name: Text
    path: Text


class Capabilities(WireModel):
    """What a client may use beyond the basic methods; every flag means a feature that exists."""

    network_proxy_launch: Flag = False
    network_proxy_review_domains: Flag = False
    network_proxy_transparent_tcp: Flag = False
    fs_watch_missing: Flag = False
    environment_config_read: Flag = False
    http_header_env_vars: Flag = False
    sandboxed_file_streaming: Flag = False
    file_write_streaming: Flag = False


class EnvironmentInfo(Result):
    """What a client has to know about the host before it can build commands for it."""

    shell: ShellInfo
    executor_version: Text
    cwd: PathUri | None = None
    user_home_dir: PathUri | None = None
    platform_os: Text | None = None
    prepend_path_dirs: tuple[PathUri, ...] = ()
    temporary_directories: tuple[PathUri, ...] = ()
    temp_dir: PathUri | None = None
    capabilities: Capabilities = Field(default_factory=Capabilities)


class InitializeResult(Result):
    """Result of `initialize`."""

    session_id: Text
    environment_info: EnvironmentInfo


class EnvironmentStatusResult(Result):
    """Result of `environment/status`."""

    status: Text = "ready"
