"""What an entry allows against what was called, as stable text for whoever reads a FAIL.

Everything shown was decided before: error type and reasons come from the judgement. Each label
stands with its allowed values beside the call that was held against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fc_eval.bfcl.decode import DecodedCall, DecodeError, decode_answer
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.judging import answer_of
from fc_eval.bfcl.match import Naming
from fc_eval.bfcl.score import pair_calls, plain_json
from fc_eval.records.codec import canonical
from fc_eval.records.run import Trace
from fc_eval.records.text import fit, printable, show_value, wrap
from fc_eval.records.verdict import Judgement, Mismatch

_SHORT_VALUE = 60
_SHORT_TEXT = 300
_MARK = " ≠ "
_BAR = " │ "


def render_answer(
    entry: BfclEntry,
    trace: Trace,
    judgement: Judgement,
    *,
    width: int = 100,
    verbose: bool = False,
) -> list[str]:
    """Show why the answer to *entry* is judged as it is.

    Args:
        entry: What was asked.
        trace: The run of it.
        judgement: What the scoring said of the two.
        width: Columns of the terminal; lines are no longer, unless *verbose*.
        verbose: Show values and texts whole.

    Returns:
        Lines without line ends, fit for a terminal. The same inputs give the same lines.
    """
    page = _Page(width, verbose)
    return [
        f"{judgement.verdict.value} {', '.join(judgement.taxonomies)}".rstrip(),
        f"instruction: {page.text(entry.instruction)}",
        f"expected: {entry.rule.value}",
        *page.calls(entry, trace, judgement.diff),
        f"final text: {page.text(trace.final_text or '') or 'none'}",
    ]


class _Page:
    def __init__(self, width: int, verbose: bool) -> None:
        self._verbose = verbose
        self._width = width
        self._column = (width - len(_BAR)) // 2
        self._limit = None if verbose else _SHORT_VALUE

    def text(self, text: str) -> str:
        return printable(text, None if self._verbose else _SHORT_TEXT)

    def calls(
        self, entry: BfclEntry, trace: Trace, mismatches: Sequence[Mismatch]
    ) -> Iterator[str]:
        answer = answer_of(trace)
        naming = Naming.DOCUMENTED if answer.calls is None else Naming.TOOL
        try:
            decoded = decode_answer(answer.calls, answer.text)
        except DecodeError:
            decoded = []
            for position, call in enumerate(answer.calls or ()):
                sent = call["arguments"]
                shown = sent if isinstance(sent, str) else canonical(sent)
                yield from self._beside("", f"actual[{position}] {call['name']}({shown})")
        yield from self._faults("answer", mismatches)
        pairs = pair_calls(entry.labels, decoded, naming)
        for pair in pairs:
            label = entry.labels[pair.label]
            name = label.name_in(naming)
            yield from self._pair(f"calls[{pair.label}] {name}", label.allowed, pair.call, decoded)
            yield from self._faults(f"calls[{pair.label}]", mismatches)
        placed = {pair.call for pair in pairs}
        for position in range(len(decoded)):
            if position not in placed:
                yield from self._pair("", {}, position, decoded)
                yield from self._faults(f"actual[{position}]", mismatches)

    def _pair(
        self,
        head: str,
        allowed: Mapping[str, Any],
        position: int | None,
        decoded: Sequence[DecodedCall],
    ) -> Iterator[str]:
        if position is None:
            name, arguments = "(no such call)", {}
        else:
            found, given = decoded[position]
            name, arguments = f"actual[{position}] {found}", dict(given)
        yield from self._beside(head, name)
        for parameter in (*allowed, *(key for key in arguments if key not in allowed)):
            left = " or ".join(map(self._value, allowed.get(parameter, ())))
            right = self._value(arguments[parameter]) if parameter in arguments else ""
            yield from self._beside(
                f"  {parameter}: {left}" if parameter in allowed else "",
                f"  {parameter}: {right}" if parameter in arguments else "",
            )

    def _value(self, value: Any) -> str:
        return show_value(plain_json(value), self._limit)

    def _beside(self, left: str, right: str) -> Iterator[str]:
        mine, theirs = self._cell(left), self._cell(right)
        for row in range(max(len(mine), len(theirs))):
            one = mine[row] if row < len(mine) else ""
            other = theirs[row] if row < len(theirs) else ""
            yield f"{fit(one, self._column)}{_BAR}{other}".rstrip()

    def _cell(self, text: str) -> list[str]:
        clean = printable(text)
        return wrap(clean, self._column) if self._verbose else [fit(clean, self._column).rstrip()]

    def _faults(self, path: str, mismatches: Sequence[Mismatch]) -> Iterator[str]:
        for mismatch in mismatches:
            if mismatch.path == path or mismatch.path.startswith(f"{path}."):
                fault = f"{mismatch.code} {printable(mismatch.path, 80)}: {mismatch.message}"
                yield from (_MARK + part for part in wrap(self.text(fault), self._width - 3))
