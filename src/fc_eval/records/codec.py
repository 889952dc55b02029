"""Records to plain JSON values and back, one canonical text, and the schemas beside it.

The records say what a thing is made of, this module says how it is written. JSON is checked once,
at the edge: the JSON Schema of the artifact, then `from_plain`, then records all the way in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Self, TypeAlias, TypeVar

import msgspec

from fc_eval.errors import ArtifactError

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, a list of these, or a dict from str to these."""

T = TypeVar("T")


def to_plain(record: object) -> Any:
    """Turn a record into JSON values: dicts, lists, strings, numbers, booleans, None."""
    return _listed(msgspec.to_builtins(record))


def _listed(value: Any) -> Any:
    # msgspec keeps tuples; JSON has lists only, and `==` tells them apart.
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value


def from_plain(record_type: type[T], data: object) -> T:
    """Read JSON values as a record; absent fields take their defaults.

    Raises:
        ValueError: A field is missing or has another type; the text names its path.
    """
    try:
        return msgspec.convert(data, record_type)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


class Plain:
    """A record that reads itself from plain JSON and writes itself as it."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON object of the record.

        Raises:
            ValueError: A field is missing or has another type.
        """
        return from_plain(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object; the inverse of `from_dict`."""
        plain: dict[str, Any] = to_plain(self)
        return plain


def canonical(value: JsonValue) -> str:
    """The one text of a JSON value: sorted keys, no blanks, ASCII only.

    Raises:
        ValueError: *value* holds a NaN or an infinity.
    """
    return json.dumps(
        value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical text, in lower-case hexadecimal."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def load_schema(name: str) -> Mapping[str, Any]:
    """The JSON Schema that the package ships for *name*, such as `RawRunV1`."""
    text = resources.files("fc_eval.records").joinpath("schemas", f"{name}.json")
    schema: Mapping[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return schema


@cache
def _validator(name: str) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(load_schema(name))


def schema_errors(name: str, value: JsonValue) -> list[tuple[str, str]]:
    """Where and why *value* breaks the schema *name*: pairs of JSON path and message, sorted."""
    found = _validator(name).iter_errors(value)
    return sorted((error.json_path, error.message[:500]) for error in found)


def check_schema(name: str, value: JsonValue, *, path: str) -> None:
    """Raise where *value*, read from or meant for *path*, breaks the schema *name*.

    Raises:
        ArtifactError: It does; the first places are named.
    """
    errors = schema_errors(name, value)
    if errors:
        shown = "; ".join(f"{where}: {why}" for where, why in errors[:3])
        more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
        raise ArtifactError(
            f"this is no valid {name}: {shown}{more}",
            path=path,
            fix=f"restore the file as it was written, or make it anew ({name})",
        )
