"""The names of notes on oddities, on calls and on cases: for a reader, never for the verdict."""

from __future__ import annotations

from enum import StrEnum


class Flag(StrEnum):
    """What was odd about an answer, in one word."""

    ARGS_NOT_STRING = "args_not_string"
    ARGS_EMPTY = "args_empty"
    NEAR_MISS_ARGS = "near_miss_args"
    DOUBLE_ENCODED = "double_encoded"
    CONCATENATED_ARGS = "concatenated_args"
    NESTED_ENVELOPE = "nested_envelope"
    DUPLICATE_KEYS = "duplicate_keys"
    LOOKS_TRUNCATED = "looks_truncated"
    FINISH_LENGTH = "finish_length"
    FINISH_MISMATCH = "finish_mismatch"
    FINISH_UNKNOWN = "finish_unknown"
    ID_SYNTHESISED = "id_synthesised"
    ID_DUPLICATE = "id_duplicate"
    TYPE_MISSING = "type_missing"
    LEGACY_FUNCTION_CALL = "legacy_function_call"
    NAME_MISSING = "name_missing"
    NEAR_MISS_NAME = "near_miss_name"
    GLUED_NAME = "glued_name"
    NULL_OPTIONAL = "null_optional"
    REPLACEMENT_CHAR = "replacement_char"
    LONE_SURROGATE = "lone_surrogate"
    INVISIBLE_CHAR = "invisible_char"
    NEAR_MISS_VALUE = "near_miss_value"
    NEAR_MISS_TYPE = "near_miss_type"
    EXTRA_CHOICES = "extra_choices"
    SPLIT_CHOICES = "split_choices"
    EMPTY_FINAL = "empty_final"
    THINK_IN_CONTENT = "think_in_content"
    REFUSAL = "refusal"
    TEXT_ENCODED_CALL = "text_encoded_call"
    NARRATED_INTENT = "narrated_intent"
    USAGE_UNKNOWN = "usage_unknown"
    MODEL_MISMATCH = "model_mismatch"
    BROKEN_GENERATION = "broken_generation"
