"""Capabilities: what one host can enforce, feature by feature, with the reason when it cannot.

A backend's probe fills it, planners and `doctor` read it. It never says what a policy wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Need(StrEnum):
    """Whether a sandbox can stand without the feature."""

    REQUIRED = "required"
    HARDENING = "hardening"


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a host offers or lacks.

    Attributes:
        name: the field's own term, such as `user-namespaces`.
        need: whether a sandbox can stand without it.
        available: whether it works here, tried rather than read from a version.
        detail: what was found, such as an ABI number.
        cure: the least change that would bring it, when it is missing.
    """

    name: str
    need: Need
    available: bool
    detail: str
    cure: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Everything a probe found out.

    Attributes:
        backend: the backend that was probed.
        host: one line naming the system, such as the kernel release.
        features: the features in the order they are needed.
    """

    backend: str
    host: str
    features: tuple[Feature, ...]

    def feature(self, name: str) -> Feature | None:
        """The feature of that name, or None when the probe does not know it."""
        return next((feature for feature in self.features if feature.name == name), None)

    def has(self, name: str) -> bool:
        """Whether the feature is known and available."""
        feature = self.feature(name)
        return feature is not None and feature.available

    @property
    def missing(self) -> tuple[Feature, ...]:
        """The required features that this host lacks."""
        return tuple(f for f in self.features if f.need is Need.REQUIRED and not f.available)
