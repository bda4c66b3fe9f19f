"""The front door: on to the dashboard, or to the first page while there is nothing to show."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import path

from memories.console.access import accepts, allows, may, open_to_all, signed_in
from memories.console.first_run import look_around
from memories.console.navigation import page_url
from memories.console.rendering import render_page


@accepts("GET")
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Where a person lands: people without any right are told so, others go where there is something."""
    if not allows(request.user, "memories.view_memory"):
        return render_page(request, "console/home/no_rights.html", {"title": "Nothing to show yet"})
    if look_around().is_new:
        return redirect("console:welcome")
    return HttpResponseRedirect(page_url("dashboard") or page_url("memories") or page_url("welcome"))


@accepts("GET")
@may("view_memory")
def welcome(request: HttpRequest) -> HttpResponse:
    """What there is on this machine, before the first memory."""
    found = look_around()
    context = {"title": "Welcome" if found.is_new else "This database", "found": found}
    return render_page(request, "console/home/welcome.html", context)


@accepts("GET")
@open_to_all
def health(request: HttpRequest) -> HttpResponse:
    """Up. A server that is down does not answer; anything more is for people who are logged in."""
    return HttpResponse("up\n", content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("", home, name="home"),
    path("welcome/", welcome, name="welcome"),
    path("healthz", health, name="health"),
]
