"""The step interpreter: applies a LinuxPlan to the process it runs in, in order, and never decides.

It runs in a freshly forked, single-threaded process that will become a pod's pid 1. The first failing
step ends it with a StepFailure naming the step; nothing is retried and nothing is skipped.
"""

import sys

assert sys.platform == "linux"

import base64
import fcntl
import os
import resource
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from sandboxing.backends.linux import landlock
from sandboxing.backends.linux import steps as plan_steps
from sandboxing.backends.linux.steps import LinuxPlan, Namespace, NodeKind, Step, Writability
from sandboxing.backends.linux.syscalls import mounts, privileges
from sandboxing.launch.control import StepFailure

_T = TypeVar("_T")

_FLAGS: Final = {
    Namespace.USER: mounts.CLONE_NEWUSER,
    Namespace.MOUNT: mounts.CLONE_NEWNS,
    Namespace.PID: mounts.CLONE_NEWPID,
    Namespace.IPC: mounts.CLONE_NEWIPC,
    Namespace.UTS: mounts.CLONE_NEWUTS,
    Namespace.CGROUP: mounts.CLONE_NEWCGROUP,
    Namespace.NETWORK: mounts.CLONE_NEWNET,
}

_WORKSHOP: Final = "/proc"
"""Where the new tree is put together. Every host has it, and no plan binds anything from below it."""

_ROOT: Final = "/proc/root"
_HARDENED: Final = mounts.MOUNT_ATTR_NOSUID | mounts.MOUNT_ATTR_NODEV
_SIOCSIFFLAGS: Final = 0x8914  # include/uapi/linux/sockios.h
_IFF_UP_RUNNING: Final = 0x41  # include/uapi/linux/if.h


def enter_namespaces(plan: LinuxPlan) -> None:
    """Leave the host's namespaces and map the caller's own ids into the new user namespace.

    The pid namespace takes effect for the next child, which the caller must fork.

    Raises:
        StepFailure: the kernel refused.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = 0
    for namespace in plan.namespaces:
        flags |= _FLAGS[namespace]
    _attempt("unshare", lambda: mounts.unshare(flags))
    if Namespace.USER in plan.namespaces:
        # setgroups must be denied before an ordinary user may write a gid map: user_namespaces(7)
        _attempt("setgroups", lambda: _write("/proc/self/setgroups", b"deny"))
        _attempt("uid_map", lambda: _write("/proc/self/uid_map", b"%d %d 1\n" % (uid, uid)))
        _attempt("gid_map", lambda: _write("/proc/self/gid_map", b"%d %d 1\n" % (gid, gid)))


def apply_steps(plan: LinuxPlan) -> None:
    """Take every step of the plan in this process.

    Raises:
        StepFailure: a step failed; the process must end.
    """
    # before /proc is covered: the addresses to overwrite are read from it
    _attempt("forget-arguments", privileges.forget_arguments)
    mounts_needed = Namespace.MOUNT in plan.namespaces
    builder = _TreeBuilder(root=-1, masks={})
    if mounts_needed:
        _attempt("private-mounts", mounts.make_everything_private)
        builder = _attempt("workshop", lambda: _open_workshop(plan))
    for step in plan.steps:
        name = type(step).__name__
        _attempt(f"{name} {getattr(step, 'path', '')}".strip(), _action(builder, step))


def _attempt(step: str, action: Callable[[], _T]) -> _T:
    try:
        return action()
    except OSError as error:
        raise StepFailure(step=step, errno=error.errno or 0, detail=error.filename or "") from error


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _TreeBuilder:
    """The new tree while it is put together.

    Attributes:
        root: descriptor of the new tree's root.
        masks: descriptors of the empty objects that masks are copies of.
        sources: descriptors of host paths, opened before anything covered them.
    """

    root: int
    masks: dict[NodeKind, int]

    def open(self, path: str) -> int:
        return mounts.open_beneath(path, root=self.root)

    def attach(self, tree: int, path: str) -> None:
        target = self.open(path)
        try:
            mounts.attach(tree, target)
        finally:
            os.close(target)
            os.close(tree)

    def inside(self, path: str) -> str:
        """The path as the building process itself can name it; only for areas the sandbox owns."""
        return _ROOT + path


def _open_workshop(plan: LinuxPlan) -> _TreeBuilder:
    base = next(step for step in plan.steps if isinstance(step, plan_steps.HostRoot | plan_steps.EmptyRoot))
    tree = -1
    if isinstance(base, plan_steps.HostRoot):
        host = mounts.open_beneath("/", root=None)
        tree = mounts.clone_tree(host)
        os.close(host)
        attributes = mounts.MOUNT_ATTR_NOSUID
        attributes |= 0 if base.devices else mounts.MOUNT_ATTR_NODEV
        attributes |= mounts.MOUNT_ATTR_RDONLY if base.writability is Writability.READ_ONLY else 0
        mounts.add_attributes(tree, attributes, mounts.Reach.THIS_AND_BELOW)
    mounts.mount_filesystem(
        "tmpfs", _WORKSHOP, flags=mounts.MS_NOSUID | mounts.MS_NODEV, options="mode=0700,size=1m"
    )
    masks = {
        NodeKind.DIRECTORY: _make_mask(f"{_WORKSHOP}/mask-directory", NodeKind.DIRECTORY),
        NodeKind.FILE: _make_mask(f"{_WORKSHOP}/mask-file", NodeKind.FILE),
    }
    os.mkdir(_ROOT, 0o755)
    if tree < 0:
        mounts.mount_filesystem(
            "tmpfs", _ROOT, flags=mounts.MS_NOSUID | mounts.MS_NODEV, options="mode=0755,size=1m"
        )
    else:
        target = os.open(_ROOT, os.O_PATH | os.O_CLOEXEC)
        mounts.attach(tree, target)
        os.close(target)
        os.close(tree)
    return _TreeBuilder(root=os.open(_ROOT, os.O_PATH | os.O_CLOEXEC), masks=masks)


def _make_mask(path: str, kind: NodeKind) -> int:
    if kind is NodeKind.DIRECTORY:
        os.mkdir(path, 0)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0))
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _action(builder: _TreeBuilder, step: Step) -> Callable[[], None]:  # noqa: C901, PLR0912 - one arm a step
    match step:
        case plan_steps.HostRoot() | plan_steps.EmptyRoot():
            return lambda: None  # taken when the workshop was opened
        case plan_steps.MakeDirectory():
            return lambda: _make_directory(builder, step)
        case plan_steps.MakeFile():
            return lambda: _make_file(builder, step)
        case plan_steps.MakeLink():
            return lambda: os.symlink(step.target, builder.inside(step.path))
        case plan_steps.Bind():
            return lambda: _bind(builder, step)
        case plan_steps.Mask():
            return lambda: _mask(builder, step)
        case plan_steps.Tmpfs():
            return lambda: _mount_tmpfs(builder, step)
        case plan_steps.PrivateDevices():
            return lambda: _private_devices(builder, step)
        case plan_steps.PrivateTerminals():
            return lambda: _private_terminals(builder)
        case plan_steps.FreshProc():
            return lambda: _fresh_proc(builder, step)
        case plan_steps.ReadOnlySystem():
            return lambda: _read_only_system(builder)
        case plan_steps.Seal():
            return lambda: _seal(builder, step)
        case plan_steps.EnterRoot():
            return lambda: mounts.enter_root(_ROOT)
        case plan_steps.LoopbackUp():
            return _loopback_up
        case plan_steps.ResourceLimit():
            return lambda: _limit(step)
        case plan_steps.DropPrivileges():
            return _drop_privileges
        case plan_steps.Landlock():
            return lambda: landlock.restrict(step)
        case plan_steps.Seccomp():
            return lambda: privileges.load_seccomp_filter(base64.b64decode(step.program), step.machine)


def _make_directory(builder: _TreeBuilder, step: plan_steps.MakeDirectory) -> None:
    path = builder.inside(step.path)
    os.mkdir(path)
    os.chmod(path, step.mode)


def _make_file(builder: _TreeBuilder, step: plan_steps.MakeFile) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    os.close(os.open(builder.inside(step.path), flags, 0o600))


def _bind(builder: _TreeBuilder, step: plan_steps.Bind) -> None:
    source = mounts.open_beneath(step.path, root=None)
    tree = mounts.clone_tree(source)
    os.close(source)
    attributes = _HARDENED if not step.path.startswith("/dev/") else mounts.MOUNT_ATTR_NOSUID
    if step.writability is Writability.READ_ONLY:
        attributes |= mounts.MOUNT_ATTR_RDONLY
    mounts.add_attributes(tree, attributes, mounts.Reach.THIS_AND_BELOW)
    builder.attach(tree, step.path)


def _mask(builder: _TreeBuilder, step: plan_steps.Mask) -> None:
    tree = mounts.clone_tree(builder.masks[step.kind])
    mounts.add_attributes(tree, _HARDENED | mounts.MOUNT_ATTR_RDONLY, mounts.Reach.THIS_AND_BELOW)
    builder.attach(tree, step.path)


def _mount_tmpfs(builder: _TreeBuilder, step: plan_steps.Tmpfs) -> None:
    size = f",size={step.size_mb}m" if step.size_mb else ""
    mounts.mount_filesystem(
        "tmpfs",
        builder.inside(step.path),
        flags=mounts.MS_NOSUID | mounts.MS_NODEV,
        options=f"mode={step.mode:04o}{size}",
    )


def _private_devices(builder: _TreeBuilder, step: plan_steps.PrivateDevices) -> None:
    nodes = {}
    for name in step.nodes:
        source = mounts.open_beneath(f"/dev/{name}", root=None)
        nodes[name] = mounts.clone_tree(source)
        os.close(source)
    dev = builder.inside("/dev")
    # no nodev: the copies of the host's nodes must stay usable; the tmpfs itself holds none
    mounts.mount_filesystem("tmpfs", dev, flags=mounts.MS_NOSUID, options="mode=0755,size=1m")
    for name, tree in nodes.items():
        os.close(os.open(f"{dev}/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        # read-only: a device takes writes all the same, but its mode, owner and times are the host's
        attributes = mounts.MOUNT_ATTR_NOSUID | mounts.MOUNT_ATTR_RDONLY
        mounts.add_attributes(tree, attributes, mounts.Reach.THIS_MOUNT)
        builder.attach(tree, f"/dev/{name}")
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ):
        os.symlink(target, f"{dev}/{name}")
    os.mkdir(f"{dev}/pts", 0o755)
    _mount_terminals(f"{dev}/pts")
    os.mkdir(f"{dev}/shm", 0o755)
    size = f",size={step.shm_mb}m" if step.shm_mb else ""
    mounts.mount_filesystem(
        "tmpfs",
        f"{dev}/shm",
        flags=mounts.MS_NOSUID | mounts.MS_NODEV,
        options=f"mode=1777{size}",
    )


def _private_terminals(builder: _TreeBuilder) -> None:
    _mount_terminals(builder.inside("/dev/pts"))
    own = builder.open("/dev/pts/ptmx")
    tree = mounts.clone_tree(own)
    os.close(own)
    builder.attach(tree, "/dev/ptmx")


def _mount_terminals(path: str) -> None:
    mounts.mount_filesystem(
        "devpts",
        path,
        flags=mounts.MS_NOSUID | mounts.MS_NOEXEC,
        options="newinstance,ptmxmode=0666,mode=620",
    )


def _fresh_proc(builder: _TreeBuilder, step: plan_steps.FreshProc) -> None:
    proc = builder.inside("/proc")
    mounts.mount_filesystem(
        "proc", proc, flags=mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC, options=""
    )
    for name in step.read_only:
        path = f"/proc/{name}"
        if not os.path.lexists(builder.inside(path)):
            continue
        target = builder.open(path)
        tree = mounts.clone_tree(target)
        os.close(target)
        mounts.add_attributes(tree, _HARDENED | mounts.MOUNT_ATTR_RDONLY, mounts.Reach.THIS_AND_BELOW)
        builder.attach(tree, path)
    for name in step.masked:
        path = f"/proc/{name}"
        if not os.path.lexists(builder.inside(path)):
            continue
        kind = NodeKind.DIRECTORY if os.path.isdir(builder.inside(path)) else NodeKind.FILE
        tree = mounts.clone_tree(builder.masks[kind])
        mounts.add_attributes(tree, _HARDENED | mounts.MOUNT_ATTR_RDONLY, mounts.Reach.THIS_AND_BELOW)
        builder.attach(tree, path)


def _read_only_system(builder: _TreeBuilder) -> None:
    if os.path.isdir(builder.inside("/sys")):
        _bind(builder, plan_steps.Bind(path="/sys", writability=Writability.READ_ONLY, rule="system"))


def _seal(builder: _TreeBuilder, step: plan_steps.Seal) -> None:
    target = builder.open(step.path)
    try:
        mounts.add_attributes(target, mounts.MOUNT_ATTR_RDONLY, mounts.Reach.THIS_MOUNT)
    finally:
        os.close(target)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_RUNNING))


def _limit(step: plan_steps.ResourceLimit) -> None:
    number: int = getattr(resource, f"RLIMIT_{step.name}")
    _, hard = resource.getrlimit(number)
    value = step.value if hard == resource.RLIM_INFINITY else min(step.value, hard)
    resource.setrlimit(number, (value, value))


def _drop_privileges() -> None:
    privileges.become_undumpable()
    privileges.drop_all_capabilities()
    privileges.set_no_new_privileges()
