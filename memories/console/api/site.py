"""The one django-ninja API: its routers, what it makes of errors, its addresses and its description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path
from ninja import NinjaAPI, Router, Schema
from ninja.errors import ValidationError
from ninja.security import HttpBearer, SessionAuth
from pydantic import ConfigDict

from memories.console.access import Access, full_name
from memories.console.api.answers import answer, refused
from memories.console.api.guard import guarded
from memories.console.errors import problem_of
from memories.console.repository_access import status_of
from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Answer(Schema):
    """An answer: ``success`` true, and what the address documents."""

    model_config = ConfigDict(extra="allow")
    success: bool
    contract_version: int


class Fault(Schema):
    """What was refused: code, field, message, and where it helps the value and what was expected."""

    model_config = ConfigDict(extra="allow")
    code: str
    field: str
    message: str


class Refusal(Schema):
    """The one error shape."""

    model_config = ConfigDict(extra="allow")
    success: bool
    error: Fault
    retryable: bool
    contract_version: int


class Session(SessionAuth):
    """Named in the description; the guard has looked already."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        return request.user


class Token(HttpBearer):
    """Named in the description; the guard has looked already."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        return request.user


REFUSALS = dict.fromkeys((400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503), Refusal)

api = NinjaAPI(
    title="Memory suite",
    version=str(CONTRACT_VERSION),
    description="What the console does, for programs. Errors have one shape; lists are paged.",
    docs_url=None,
    openapi_url=None,
    urls_namespace="memsuite-api",
    auth=[Session(csrf=False), Token()],
)
_router = Router()


class Endpoints:
    """Registers views: ``@endpoints.get("tags", "tags")`` above a function with typed parameters.

    ``tag`` groups them in the description. All belong to one router, since one address may be read by a
    view of one module and changed by that of another.
    """

    def __init__(self, tag: str) -> None:
        self._tag = tag

    def get(
        self, route: str, name: str, permission: str = "view_memory", *, download: str = ""
    ) -> Callable[[View], View]:
        """``download`` is the type of content where the answer is a file instead of an object."""
        content = {200: {"content": {download: {"schema": {"type": "string"}}}}}
        said = {"responses": content} if download else None
        return self._noted("GET", route, name, permission, said=said)

    def post(
        self,
        route: str,
        name: str,
        permission: str,
        *,
        body: dict[str, Any] | None = None,
        recent: bool = False,
    ) -> Callable[[View], View]:
        """``body`` is the JSON schema of what is sent; the contract checks it, not the schema."""
        said = {"requestBody": _described(body)} if body is not None else None
        return self._noted("POST", route, name, permission, said=said, recent=recent)

    def _noted(
        self,
        method: str,
        route: str,
        name: str,
        permission: str,
        *,
        said: dict[str, Any] | None = None,
        recent: bool = False,
    ) -> Callable[[View], View]:
        def decorate(view: View) -> View:
            view.api_permission = full_name(permission)  # type: ignore[attr-defined]
            view.api_recent = recent  # type: ignore[attr-defined]
            register = _router.api_operation(
                [method],
                f"/{route}",
                url_name=name,
                response={200: Answer, **REFUSALS},
                summary=(view.__doc__ or "").strip().splitlines()[0],
                tags=[self._tag],
                openapi_extra=said,
            )
            register(view)
            return view

        return decorate


def patterns() -> list[URLPattern]:
    """The addresses under ``/api/``, guarded, the description and what answers for all others."""
    known = _access_by_name()
    api.add_router("", _router)
    found = [
        path(str(pattern.pattern), guarded(pattern.callback, known[pattern.name]), name=pattern.name)
        for pattern in api.urls[0]
        if isinstance(pattern, URLPattern) and pattern.name in known
    ]
    signed_in = Access(frozenset({"GET", "HEAD"}))
    return [
        # Written out before with a parameter: memories/bulk-tag is no memory of that id.
        *sorted(found, key=lambda pattern: len(pattern.pattern.converters)),
        path("openapi.json", guarded(description, signed_in), name="description"),
        path("<path:elsewhere>", guarded(nothing_here, signed_in), name="nothing_here"),
    ]


def description(request: HttpRequest) -> HttpResponse:
    """The OpenAPI description, made from the code."""
    return answer({}) if request.method == "HEAD" else api.create_response(request, _schema(), status=200)


def nothing_here(request: HttpRequest, elsewhere: str) -> HttpResponse:
    raise MemsuiteError(ErrorCode.NOT_FOUND, "path", "The API has no such address.")


def _schema() -> Any:
    return api.get_openapi_schema(path_prefix="/api/")


def _access_by_name() -> dict[str, Access]:
    """What each address asks for, by the names of its operations: an address may take GET and POST."""
    return {
        operation.url_name: access
        for view in _router.path_operations.values()
        for access in [_access(view.operations)]
        for operation in view.operations
        if operation.url_name
    }


def _access(operations: list[Any]) -> Access:
    pairs = list(_pairs(operations))
    methods = frozenset(method for method, _ in pairs)
    return Access(
        methods | ({"HEAD"} if "GET" in methods else frozenset()),
        permissions=frozenset((method, view.api_permission) for method, view in pairs),
        recent=frozenset(method for method, view in pairs if view.api_recent),
    )


def _pairs(operations: list[Any]) -> Iterator[tuple[str, Any]]:
    for operation in operations:
        for method in operation.methods:
            yield method, operation.view_func


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


@api.exception_handler(MemsuiteError)
def _refused(request: HttpRequest, error: MemsuiteError) -> HttpResponse:
    response = refused(error, status_of(error.code))
    if wait := problem_of(error).retry_after:
        response["Retry-After"] = str(wait)
    return response


@api.exception_handler(ValidationError)
def _unreadable(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A parameter that is not of its type or out of its range."""
    first = error.errors[0] if error.errors else {}
    place = [str(part) for part in first.get("loc", ())]
    known = MemsuiteError(
        ErrorCode.REQUIRED_FIELD if first.get("type") == "missing" else ErrorCode.INVALID_PARAMETER,
        place[-1] if place else "",
        f"{first.get('msg', 'This cannot be read')}.",
    )
    return _refused(request, known)
