"""The closed set of error codes, and the one exception that leaves the core."""

from __future__ import annotations

from enum import StrEnum

from memories.contract.limits import FIELD_NAME_MAX
from memories.contract.received import printable, shown, structure


class ErrorCode(StrEnum):
    """Every code an answer may carry, whichever door it leaves by."""

    # The shape of a request
    INVALID_TYPE = "invalid_type"
    UNKNOWN_FIELD = "unknown_field"
    REQUIRED_FIELD = "required_field"
    INVALID_PARAMETER = "invalid_parameter"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    EMPTY_PATCH = "empty_patch"
    INVALID_WRITE_MODE = "invalid_write_mode"

    # The fields of a memory
    DOMAIN_TOO_LONG = "domain_too_long"
    INVALID_DOMAIN = "invalid_domain"
    SUBJECT_TOO_LONG = "subject_too_long"
    INVALID_SUBJECT = "invalid_subject"
    EMPTY_FACT = "empty_fact"
    TOO_MANY_FACTS = "too_many_facts"
    FACT_TOO_LONG = "fact_too_long"
    FACTS_TOO_LONG = "facts_too_long"
    MULTILINE_FACT = "multiline_fact"
    NESTED_TIER_MARKER = "nested_tier_marker"
    NESTED_RELATION_MARKER = "nested_relation_marker"
    NESTED_FACT_MARKER = "nested_fact_marker"
    DUPLICATE_SUBJECT_PREFIX = "duplicate_subject_prefix"
    CONTROL_CHARACTER = "control_character"
    INVALID_TIER = "invalid_tier"
    INVALID_CATEGORY = "invalid_category"
    TOO_MANY_RELATIONS = "too_many_relations"
    INVALID_RELATION_TYPE = "invalid_relation_type"
    INVALID_RELATION_TARGET = "invalid_relation_target"
    TOO_MANY_TAGS = "too_many_tags"
    TAG_TOO_LONG = "tag_too_long"
    INVALID_TAG = "invalid_tag"
    INVALID_QUALITY = "invalid_quality"
    INVALID_TYPE_LABEL = "invalid_type_label"
    SECRET_DETECTED = "secret_detected"

    # Reading old text
    MISSING_TIER_MARKER = "missing_tier_marker"
    MULTIPLE_TIER_MARKERS = "multiple_tier_markers"
    TIER_NOT_FINAL = "tier_not_final"
    MISSING_SUBJECT_PREFIX = "missing_subject_prefix"

    # A memory against the memories that are there
    CONFLICTING_CLAIMS = "conflicting_claims"
    AMBIGUOUS_SUBJECT = "ambiguous_subject"
    DUPLICATE_MEMORY = "duplicate_memory"
    MEMORY_NOT_FOUND = "memory_not_found"
    VERSION_CONFLICT = "version_conflict"
    CONFLICT_NOT_FOUND = "conflict_not_found"
    CONFLICT_NOT_OPEN = "conflict_not_open"

    # The model and the store
    EMBEDDING_FAILED = "embedding_failed"
    EMBEDDING_MODEL_MISMATCH = "embedding_model_mismatch"
    STORE_BUSY = "store_busy"
    STORE_UNAVAILABLE = "store_unavailable"
    STORE_READ_ONLY = "store_read_only"
    DISK_FULL = "disk_full"
    SCHEMA_TOO_NEW = "schema_too_new"

    # Who may do what, how often and how much
    CONTEXT_INACTIVE = "context_inactive"
    WRITE_LIMIT_REACHED = "write_limit_reached"
    RATE_LIMITED = "rate_limited"
    SELECTION_CHANGED = "selection_changed"
    CONFIRMATION_REQUIRED = "confirmation_required"
    TOO_MANY_IDS = "too_many_ids"
    HEAVY_WORK_BUSY = "heavy_work_busy"
    NOT_AUTHENTICATED = "not_authenticated"
    NOT_PERMITTED = "not_permitted"
    NOT_FOUND = "not_found"

    @property
    def retryable(self) -> bool:
        """True when the same request, unchanged, may succeed a moment later."""
        return self in _RETRYABLE


_RETRYABLE = frozenset(
    {
        ErrorCode.EMBEDDING_FAILED,
        ErrorCode.STORE_BUSY,
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.RATE_LIMITED,
        ErrorCode.HEAVY_WORK_BUSY,
    }
)

# Here `received` is this suite's own list of ids or claims, not the caller's value: it keeps its structure,
# since a caller acts on it, and only the texts inside are cut.
_STRUCTURED = frozenset(
    {
        ErrorCode.CONFLICTING_CLAIMS,
        ErrorCode.AMBIGUOUS_SUBJECT,
        ErrorCode.DUPLICATE_MEMORY,
        ErrorCode.VERSION_CONFLICT,
        ErrorCode.SELECTION_CHANGED,
    }
)


class MemsuiteError(Exception):
    """A refusal or failure with its code and place.

    `message` is written by this suite and never repeats the refused value, so that it may be logged;
    `received` is what the caller sent and belongs in the answer to that caller only.
    """

    def __init__(
        self, code: ErrorCode, field: str, message: str, *, received: object = None, expected: object = None
    ) -> None:
        super().__init__(code, field, message)
        self.code = code
        self.field = printable(field, FIELD_NAME_MAX)
        self.message = message
        self.received = received
        self.expected = expected

    @property
    def retryable(self) -> bool:
        return self.code.retryable

    def __str__(self) -> str:
        place = f" ({self.field})" if self.field else ""
        return f"{self.code.value}{place}: {self.message}"

    def as_answer(self) -> dict[str, object]:
        """The one error shape of every door; always serialisable as JSON."""
        received = structure(self.received) if self.code in _STRUCTURED else shown(self.received)
        return {
            "success": False,
            "error": {
                "code": self.code.value,
                "field": self.field,
                "message": printable(self.message, len(self.message)),
                "received": received,
                "expected": structure(self.expected),
            },
            "retryable": self.retryable,
        }
