"""Which script is a prompt written in?

The live entries came from users all over the world. A script can be read off the letters; the
language can't, without a model, so that all languages in Latin letters count as one.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

_SHARE = 0.1
"""A script counts where at least so many of the letters are of it."""

_NAMES: Mapping[str, str] = {"Cjk": "Han", "Hiragana": "Kana", "Katakana": "Kana"}


def text_script(texts: Iterable[str]) -> str:
    """The scripts of all letters of the texts, in alphabetical order, as in `Hangul+Latin`.

    Texts without letters are of the script `none`.
    """
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    counts = Counter(map(_script, letters))
    frequent = [name for name, count in counts.items() if count >= _SHARE * len(letters)]
    return "+".join(sorted(frequent)) or "none"


def _script(letter: str) -> str:
    # Unicode names start with the script; the width of a letter is no script.
    words = unicodedata.name(letter, "UNKNOWN").split()
    name = words[1] if words[0] in ("FULLWIDTH", "HALFWIDTH") and len(words) > 1 else words[0]
    return _NAMES.get(name.title(), name.title())
