"""The error types of BFCL v4, single turn: why an answer is not valid.

The values are the texts that the official score files carry, so that two score files can be laid
side by side. Which one applies is decided in `decode`, `match` and `score`.
"""

from __future__ import annotations

from enum import StrEnum


class ErrorType(StrEnum):
    """The first thing that is wrong with an answer, in the official order of checks."""

    DECODER_FAILED = "ast_decoder:decoder_failed"
    """The answer can't be decoded: one broken call is enough."""
    WRONG_OUTPUT_FORMAT = "ast_decoder:decoder_wrong_output_format"
    """Decoded, but the arguments of a call are no object."""

    SIMPLE_COUNT = "simple_function_checker:wrong_count"
    MULTIPLE_COUNT = "multiple_function_checker:wrong_count"
    PARALLEL_COUNT = "parallel_function_checker_no_order:wrong_count"
    NO_MATCH = "parallel_function_checker_no_order:cannot_find_match"
    """A label found no free call that passes."""

    WRONG_NAME = "simple_function_checker:wrong_func_name"
    MISSING_REQUIRED = "simple_function_checker:missing_required"
    UNEXPECTED_PARAM = "simple_function_checker:unexpected_param"
    """Not documented, or not in the label."""
    MISSING_OPTIONAL = "simple_function_checker:missing_optional"
    """In the label, and not marked as omittable there."""

    TYPE = "type_error:simple"
    ELEMENT_TYPE = "type_error:nested"

    VALUE_TEXT = "value_error:string"
    VALUE_LIST = "value_error:list/tuple"
    VALUE = "value_error:others"
    OBJECT_KEY = "value_error:dict_key"
    OBJECT_VALUE = "value_error:dict_value"
    OBJECT_COUNT = "value_error:list_dict_count"
    OBJECT_UNCLEAR = "dict_checker:unclear"
    """No allowed object to compare with."""
    OBJECTS_UNCLEAR = "list_dict_checker:unclear"
    """No allowed list of objects to compare with."""

    CALLED_THOUGH_IRRELEVANT = "irrelevance_error:decoder_success"
    SILENT_THOUGH_RELEVANT = "relevance_error:decoder_failed"
