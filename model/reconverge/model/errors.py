"""How an API call fails.

Source: apimachinery `pkg/api/errors/errors.go`.
"""

from __future__ import annotations


class ApiError(Exception):
    """An API call that was refused; `code` is the HTTP status."""

    code = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


class Conflict(ApiError):
    """The object has changed since it was read, or a uid precondition does not hold."""

    code = 409


class NotFound(ApiError):
    """There is no such object."""

    code = 404


class AlreadyExists(ApiError):
    """An object of that name is there."""

    code = 409


class TooManyRequests(ApiError):
    """The eviction would break a disruption budget, or the answer is not known yet."""

    code = 429


class InternalError(ApiError):
    """The API server cannot do it, such as an eviction under two budgets."""

    code = 500


class Forbidden(ApiError):
    """Admission does not let the object in. `until` is when time alone may change that, None if it cannot."""

    code = 403

    def __init__(self, message: str, until: float | None = None) -> None:
        super().__init__(message)
        self.until = until


class StoreUnavailable(ApiError):
    """etcd has no quorum: the API server answers nobody."""

    code = 503


class Unreachable(ApiError):
    """The caller cannot reach the API server at all."""

    code = 503
