"""Moving memories out and in over the API: small stores. Commands and pages take any size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from ninja import Query

from memories.console.api.answers import answer
from memories.console.api.site import Endpoints
from memories.console.audit import recorded
from memories.console.heavy import heavy_work
from memories.console.repository_access import repository
from memories.interchange.exporting import export_jsonl
from memories.interchange.importing import import_from
from memories.interchange.systems import AUTO, system_named

endpoints = Endpoints("moving")

FILE_NAME = "memories.jsonl"
LINES = "application/x-ndjson"


@endpoints.get("export", "export", download=LINES)
def export(request: HttpRequest, vectors: bool = False) -> HttpResponseBase:
    """Everything, as JSON lines behind a header: what ``export_memories`` writes."""
    with heavy_work(), _scratch() as folder:
        path = folder / FILE_NAME
        export_jsonl(repository(), path, vectors=vectors)
        # The open file outlives its name.
        return FileResponse(path.open("rb"), as_attachment=True, filename=FILE_NAME, content_type=LINES)


@endpoints.post("import", "import", "add_memory", body={"type": "object"})
def import_memories(
    request: HttpRequest,
    system: Annotated[str, Query(alias="from", max_length=40)] = AUTO,
    dry_run: bool = False,
) -> HttpResponse:
    """Import what is sent: an export of ours, of the older suite, or memories as JSON lines."""
    with heavy_work(), _scratch() as folder:
        path = folder / FILE_NAME
        path.write_bytes(request.body)
        known = system_named(system, path)
        if dry_run:
            return answer(import_from(repository(), path, known, label="api", dry_run=True).as_answer())
        with recorded(request, "import", parameters={"system": str(known)}) as event:
            report = import_from(
                repository(),
                path,
                known,
                actor=event.author.actor,
                operation_id=event.operation_id,
                label="api",
            )
            told = report.as_answer()
            event.complete(changed=sum(told["added"].values()), operation_id=told["operation_id"])
    return answer(told)


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memsuite-api-") as folder:
        yield Path(folder)
