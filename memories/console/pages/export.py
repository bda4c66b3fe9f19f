"""Everything in one file, to keep or to take elsewhere."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils import timezone

from memories.console.access import accepts, may
from memories.console.audit import recorded
from memories.console.heavy import heavy_work
from memories.console.navigation import Page, Section, register
from memories.console.rendering import render_page
from memories.console.repository_access import repository, suite_settings
from memories.interchange.exporting import export_jsonl
from memories.interchange.parquet import export_parquet
from memories.settings import private_directory

register(Page(Section.MANAGE, 50, "Export", "console:export", "up", "maintenance.restore"))


@accepts("GET", "POST")
@may("maintenance.restore")
def export(request: HttpRequest) -> HttpResponseBase:
    """The form; a POST is answered with the file. Recorded, since it holds everything."""
    if request.method != "POST":
        return _form(request)
    as_table = request.POST.get("format") == "parquet"
    vectors = request.POST.get("vectors") == "1"
    name = f"memories-{timezone.now():%Y%m%d-%H%M}.{'parquet' if as_table else 'jsonl'}"
    with recorded(request, "export", parameters={"format": "parquet" if as_table else "jsonl"}) as event:
        file = _exported(name, as_table, vectors)
        event.complete(operation_id="")
    return FileResponse(file, as_attachment=True, filename=name, content_type=_KINDS[as_table])


_KINDS = {True: "application/vnd.apache.parquet", False: "application/x-ndjson"}


def _exported(name: str, as_table: bool, vectors: bool) -> BinaryIO:
    """The file, open, at a place that only its owner can read; gone from there when it is closed."""
    folder = private_directory(suite_settings().cache_dir / "exports")
    with tempfile.TemporaryDirectory(dir=folder) as place, heavy_work():
        made = Path(place) / name
        (export_parquet if as_table else export_jsonl)(repository(), made, vectors=vectors)
        sent = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # the answer closes it
        with made.open("rb") as file:
            shutil.copyfileobj(file, sent)
    sent.seek(0)
    return sent


def _form(request: HttpRequest) -> HttpResponse:
    context = {
        "title": "Export",
        "purpose": "Everything that is stored, in one file. Importing it gives the same again.",
        "count": repository().count(),
    }
    return render_page(request, "console/export/form.html", context)


urlpatterns = [path("export/", export, name="export")]
