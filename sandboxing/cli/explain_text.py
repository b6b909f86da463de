"""An explanation as text for a terminal: one line a rule, what belongs to it indented below.

It decides nothing and reads nothing but the explanation. `explain` prints the lines; a path is never cut,
so only a path that is longer than the terminal is wide makes a longer line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from sandboxing.binding.bound import FilesystemKind, PathKind, RuleOrigin, Tier
from sandboxing.cli.prose import printable, rule_name
from sandboxing.contract.enforcement import Caveat, Hold
from sandboxing.profile.access import AccessMode
from sandboxing.profile.rule_id import RuleId
from sandboxing.run.answer import Answer
from sandboxing.run.explain import ExplainedRule, Explanation

WIDEST = 100
"""Columns beyond which lines of prose become hard to read."""

_RULE_INDENT = " " * 9
_PLAN_INDENT = " " * 12
_FIELD_INDENT = " " * 12
_LONGEST_COLUMN = 56
"""A path that is longer pushes its mechanism aside instead of moving everybody's."""

_LIMIT_COLUMN = 64
"""Name, amount and the longest scope of a limit."""

_REGIMES = {
    FilesystemKind.RESTRICTED: "what no rule grants is denied",
    FilesystemKind.UNRESTRICTED: "unrestricted: every file is as the caller has it",
    FilesystemKind.EXTERNAL: "something outside limits files; nothing is limited here",
}


class _Page:
    """Lines of one text; a caveat is told in full once and named afterwards."""

    def __init__(self, width: int) -> None:
        self.lines: list[str] = []
        self._width = width
        self._told: set[Caveat] = set()

    def line(self, text: str = "") -> None:
        """One line as it is."""
        self.lines.append(printable(text))

    def prose(self, text: str, *, first: str, rest: str) -> None:
        """Words, wrapped; `first` and `rest` are the indents of the first and of the following lines."""
        self.lines += textwrap.wrap(
            printable(text),
            width=self._width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def heading(self, name: str, remark: str | None = None) -> None:
        """A blank line and the name of what follows."""
        self.line()
        self.line(name if remark is None else f"{name}: {remark}")

    def field(self, name: str, text: str) -> None:
        """A named value of an answer; nothing when there is no text."""
        self.prose(text, first=f"  {name:<9} ", rest=_FIELD_INDENT)

    def row(self, head: str, column: int, tail: str) -> None:
        """Two columns, or two lines when they do not fit."""
        line = f"{head.ljust(column)}  {tail}" if tail else head
        if len(line) <= self._width or not tail:
            self.line(line)
        else:
            self.line(head)
            self.prose(tail, first=_RULE_INDENT, rest=_RULE_INDENT)

    def caveats(self, caveats: Iterable[Caveat], indent: str) -> None:
        """Gaps: the text of each the first time, its name whenever."""
        again: list[str] = []
        for caveat in caveats:
            if caveat in self._told:
                again.append(caveat.code)
            else:
                self._told.add(caveat)
                self.prose(f"! {caveat.code}: {caveat.text}", first=indent, rest=f"{indent}  ")
        if again:
            self.prose(f"! {', '.join(again)}", first=indent, rest=f"{indent}  ")


def explanation_lines(explanation: Explanation, *, width: int, with_plan: bool) -> Sequence[str]:
    """The whole explanation.

    Args:
        explanation: what to tell.
        width: columns of the terminal.
        with_plan: whether the steps of the plan follow.
    """
    page = _Page(min(width, WIDEST))
    _introduce(page, explanation)
    page.heading("filesystem", _REGIMES[explanation.bound.filesystem])
    _rules(page, explanation.filesystem, explanation)
    if explanation.protected:
        page.heading("protected names", "read-only directly below every writable rule")
        _rules(page, explanation.protected, explanation)
    page.heading("network")
    _network(page, explanation)
    page.heading("environment")
    _environment(page, explanation)
    page.heading("limits", None if explanation.limits else "none of the policy's own")
    _limits(page, explanation)
    _host_wide(page, explanation)
    if with_plan:
        _plan(page, explanation)
    return page.lines


def _introduce(page: _Page, explanation: Explanation) -> None:
    document, bound = explanation.document, explanation.bound
    page.prose(f"{document.name}: {document.description}".removesuffix(": "), first="", rest="  ")
    if document.file != document.name:
        page.line(f"  file       {document.file}")
    for root in bound.workspace_roots:
        page.line(f"  workspace  {root}")
    if explanation.capabilities is not None:
        page.line(f"  held by    {explanation.capabilities.backend} on {explanation.capabilities.host}")
    refusal = explanation.refusal
    if refusal is not None:
        page.line()
        missing = explanation.capabilities is None
        what = "enforcement is not available here" if missing else "a run would be refused"
        page.prose(f"{what}: {refusal.message}", first="", rest="  ")
        if refusal.hint is not None:
            page.prose(f"hint: {refusal.hint}", first="  ", rest="  ")


def _rules(page: _Page, given: Sequence[ExplainedRule], explanation: Explanation) -> None:
    """Rules by place; those about nothing that exists come last."""
    rules = sorted(given, key=lambda rule: rule.bound_to is None or rule.kind is PathKind.MISSING)
    heads = [_head(rule) for rule in rules]
    column = max((len(head) for head in heads if len(head) <= _LONGEST_COLUMN), default=0)
    for rule, head in zip(rules, heads, strict=True):
        page.row(head, column, _held_by(rule, planned=explanation.planned is not None))
        _about(page, rule)


def _head(rule: ExplainedRule) -> str:
    place = rule.bound_to if rule.bound_to is not None else rule.written
    return f"  {rule.access:<6} {printable(place)}"


def _held_by(rule: ExplainedRule, *, planned: bool) -> str:
    """The mechanisms, or why there is none."""
    if rule.bound_to is None:
        return f"no effect here: {rule.reason}"
    if rule.hold is Hold.REFUSED:
        return ", ".join(("REFUSED", *rule.mechanisms))
    words = list(rule.mechanisms)
    if rule.kind is PathKind.MISSING and rule.hold is not Hold.NOT_APPLICABLE:
        words.append("nothing stands there")
    if not words:
        return "not held by the plan" if planned else ""
    return ", ".join(words)


def _about(page: _Page, rule: ExplainedRule) -> None:
    words = f"{_place(rule.rule)}{_spelling(rule)}"
    if rule.tier is Tier.SEALED:
        words += ", sealed"
    if rule.rule.why is not None:
        words += f": {rule.rule.why}"
    page.prose(words, first=_RULE_INDENT, rest=f"{_RULE_INDENT}  ")
    page.caveats(rule.caveats, _RULE_INDENT)


def _place(rule: RuleId) -> str:
    """Document and line; the pointer where there is no line."""
    return f"{rule.source}:{rule.line}" if rule.line is not None else f"{rule.source} {rule.pointer}"


def _spelling(rule: ExplainedRule) -> str:
    """How the policy writes the place, when that is not what it is bound to."""
    if rule.bound_to is None:
        return ""
    match rule.origin:
        case RuleOrigin.PROTECTED_NAME:
            written = [f"`{rule.written}`"]
        case RuleOrigin.GLOB_MATCH:
            written = [f"a match of `{rule.written}`"]
        case _:
            written = [f"`{rule.written}`"] if rule.written not in {rule.bound_to, rule.spelled} else []
    if rule.links and rule.spelled is not None:
        written.append(f"`{rule.spelled}`, which leads here")
    return f" {', '.join(written)}" if written else ""


def _network(page: _Page, explanation: Explanation) -> None:
    rule = explanation.network
    verdict = "open" if rule.access is AccessMode.WRITE else "no network"
    page.row(f"  {verdict}", len(verdict) + 2, _held_by(rule, planned=explanation.planned is not None))
    _about(page, rule)
    managed = explanation.document.network
    if managed is None:
        return
    page.line(f"  {managed.mode} proxy")
    page.prose(_place(managed.rule), first=_RULE_INDENT, rest=_RULE_INDENT)
    for pattern, verdict in managed.domains:
        page.line(f"{_RULE_INDENT}{verdict:<6} {pattern}")
    for path, verdict in managed.unix_sockets:
        page.line(f"{_RULE_INDENT}{verdict:<6} {path}")
    if managed.ports:
        page.prose(f"ports {' '.join(map(str, managed.ports))}", first=_RULE_INDENT, rest=_RULE_INDENT)


def _environment(page: _Page, explanation: Explanation) -> None:
    rules = explanation.bound.environment
    merged = explanation.document.merged
    page.line(f"  inherit  {rules.inherit}")
    for label, names in (
        ("only", rules.include_only),
        ("exclude", rules.exclude),
        ("dropped", explanation.environment.dropped),
    ):
        if names:
            page.prose(f"{label:<8} {' '.join(names)}", first="  ", rest=_RULE_INDENT + "  ")
    for name, value in explanation.environment.set:
        page.line(f"  set      {name}={value}")
    if merged is not None and merged.environment is not None and merged.environment.why is not None:
        page.prose(merged.environment.why, first=_RULE_INDENT, rest=_RULE_INDENT)


def _limits(page: _Page, explanation: Explanation) -> None:
    merged = explanation.document.merged
    planned = explanation.planned is not None
    for limit in explanation.limits:
        amount = f"{limit.value:g} {limit.unit}".rstrip()
        held = ", ".join(limit.mechanisms) or ("not held by the plan" if planned else "")
        page.row(f"  {limit.name:<13} {amount:<10} {limit.scope}", _LIMIT_COLUMN, held)
    if merged is not None and merged.limits is not None and merged.limits.why is not None:
        page.prose(merged.limits.why, first=_RULE_INDENT, rest=_RULE_INDENT)


def _host_wide(page: _Page, explanation: Explanation) -> None:
    if explanation.planned is None:
        return
    enforcement = explanation.planned.enforcement
    for name, caveats in (
        ("caveats of the whole sandbox", enforcement.caveats),
        ("hardening that this host lacks", enforcement.missing_hardening),
    ):
        if name.startswith("hardening") and enforcement.hardening:
            page.heading("hardening")
            for lock in enforcement.hardening:
                page.prose(lock, first="  ", rest="    ")
        if caveats:
            page.heading(name)
            page.caveats(caveats, "  ")


def _plan(page: _Page, explanation: Explanation) -> None:
    page.heading("plan", None if explanation.planned is not None else "none could be made")
    for step in explanation.planned.plan.lines() if explanation.planned is not None else ():
        page.prose(step, first="  ", rest=_PLAN_INDENT)


def answer_lines(answer: Answer, explanation: Explanation, *, width: int) -> Sequence[str]:
    """One answer: the verdict first, then the rule, what holds it, and what lost."""
    page = _Page(min(width, WIDEST))
    decision = answer.decision
    page.line(f"{'allowed' if decision.allowed else 'denied'}: {answer.access} {answer.given}")
    if answer.resolved != answer.given:
        page.line(f"  {'resolved':<9} {answer.resolved}")
    page.field("reason", decision.reason)
    rule = decision.rule
    page.line(f"  {'rule':<9} {rule_name(rule) if rule is not None else 'none'}")
    if rule is not None and rule.why is not None:
        page.field("", rule.why)
    _answer_held(page, answer, explanation)
    for loser in answer.losing:
        place = loser.bound_to if loser.bound_to is not None else loser.written
        page.line(f"  {'over':<9} {loser.access:<5} {place}  {_place(loser.rule)}")
    return page.lines


def _answer_held(page: _Page, answer: Answer, explanation: Explanation) -> None:
    if explanation.capabilities is None and explanation.refusal is not None:
        page.field("held by", f"enforcement is not available here: {explanation.refusal.message}")
        return
    deciding = answer.deciding
    if deciding is not None:
        page.field("held by", _held_by(deciding, planned=explanation.planned is not None))
        page.caveats(deciding.caveats, _FIELD_INDENT)
    elif answer.inside is AccessMode.DENY:
        page.field("held by", "not mounted")
    if answer.own:
        page.field("inside", "the sandbox shows something of its own here")
    elif answer.inside is not None and not _agrees(answer):
        page.field("inside", f"as things stand, what is mounted here gives {_given(answer.inside)}")


def _agrees(answer: Answer) -> bool:
    """Whether the mounts alone give what the policy gives."""
    mode, inside = answer.decision.mode, answer.inside
    return inside is None or (mode.can_read == inside.can_read and mode.can_write == inside.can_write)


def _given(mode: AccessMode) -> str:
    words = {AccessMode.DENY: "nothing", AccessMode.READ: "reading", AccessMode.WRITE: "reading and writing"}
    return words[mode]
