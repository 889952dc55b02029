"""Is a call that nobody asked for harmless enough to be ignored?

Asked only of calls that no golden call needs: pairing comes before, so that a read that a case
asks for is never filtered away.
"""

from __future__ import annotations

from fc_eval.domains.protocol import ToolKind
from fc_eval.judge.check import ExaminedCall
from fc_eval.records.case import Golden

DEFAULT_WHITELIST = ("get_user", "list_orders", "get_return_policy")


def allowed_extra(golden: Golden) -> tuple[str, ...]:
    """The names that a case allows: its own list, which replaces the default one whole."""
    return DEFAULT_WHITELIST if golden.allowed_extra is None else golden.allowed_extra


def is_excused(examined: ExaminedCall, golden: Golden) -> bool:
    """Whether a left-over call is a named read that succeeded on arguments that fit and exist."""
    return (
        examined.kind is ToolKind.READ
        and examined.call.tool in allowed_extra(golden)
        and examined.is_sound
        and examined.call.error is None
    )
