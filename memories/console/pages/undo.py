"""Undo, the button of every message that says what was changed."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import path

from memories.console import bulk_flow
from memories.console.access import accepts, may, page_of
from memories.console.job_models import Job
from memories.console.rendering import toast


@accepts("POST")
@may("change_memory")
def undo(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Take an operation back where nothing has changed since, and say what was left alone."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    back = page_of(request)
    outcome = bulk_flow.undo(request, request.user, operation_id, back)
    if isinstance(outcome, Job):
        return redirect("console:job", outcome.pk)
    toast(request, outcome.says, bad=outcome.nothing)
    return HttpResponseRedirect(back)


urlpatterns = [path("operations/<str:operation_id>/undo/", undo, name="undo")]
