"""The way in: log in, out, change the password, give it again."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, logout, update_session_auth_hash
from django.contrib.auth import login as start_session
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.debug import sensitive_post_parameters

from memories.console.access import accepts, open_to_all, remember_password, safe_path, signed_in
from memories.console.rendering import render_page, toast

NOT_RIGHT = (
    f"Name or password not right. After {settings.AXES_FAILURE_LIMIT} tries the form rests for "
    f"{settings.REST_MINUTES} minutes."
)


class LoginForm(AuthenticationForm):
    """One answer to a wrong name, a wrong password and a resting form: none says which names exist."""

    error_messages = {"invalid_login": NOT_RIGHT, "inactive": NOT_RIGHT}  # noqa: RUF012  # as Django has it


class PasswordForm(forms.Form):
    password = forms.CharField(widget=forms.PasswordInput, max_length=4096, strip=False)


@accepts("GET", "POST")
@open_to_all
@sensitive_post_parameters("password")
def login(request: HttpRequest) -> HttpResponse:
    """Starts a session under a new key; a person who is logged in already is sent on."""
    onward = safe_path(request, request.POST.get("next") or request.GET.get("next", ""))
    if request.user.is_authenticated:
        return HttpResponseRedirect(onward)
    form = LoginForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        start_session(request, form.get_user())
        remember_password(request)
        return HttpResponseRedirect(onward)
    context = {"title": "Log in", "form": form, "next": onward, "failed": form.is_bound}
    return render_page(request, "console/entrance/login.html", context, status=401 if form.is_bound else 200)


def resting(request: HttpRequest, credentials: Any = None, *_: Any, **__: Any) -> HttpResponse:
    """What django-axes answers while a name rests: the same page, with its own status."""
    context = {"title": "Log in", "form": LoginForm(request), "next": "/", "failed": True}
    response = render_page(request, "console/entrance/login.html", {**context, "says": NOT_RIGHT}, status=401)
    return response


@accepts("POST")
@signed_in
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("console:login")


@accepts("GET", "POST")
@signed_in
@sensitive_post_parameters()
def password_change(request: HttpRequest) -> HttpResponse:
    """Ends every other session of this person, since each is bound to the password."""
    form = PasswordChangeForm(cast(User, request.user), request.POST or None)
    if request.method == "POST" and form.is_valid():
        update_session_auth_hash(request, form.save())
        remember_password(request)
        toast(request, "Password changed, other sessions ended")
        return redirect("console:home")
    context = {"title": "Change password", "form": form, "purpose": "Ends your sessions in other browsers."}
    return render_page(
        request, "console/entrance/password_change.html", context, status=422 if form.is_bound else 200
    )


@accepts("GET", "POST")
@signed_in
@sensitive_post_parameters("password")
def confirm_password(request: HttpRequest) -> HttpResponse:
    """Asks for the password again before what cannot be undone; it counts for 15 minutes."""
    onward = safe_path(request, request.POST.get("next") or request.GET.get("next", ""))
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _is_theirs(request, form.cleaned_data["password"]):
        request.session.cycle_key()
        remember_password(request)
        return HttpResponseRedirect(onward)
    context = {"title": "Your password, once more", "form": form, "next": onward, "failed": form.is_bound}
    return render_page(
        request, "console/entrance/confirm_password.html", context, status=401 if form.is_bound else 200
    )


def _is_theirs(request: HttpRequest, password: str) -> bool:
    """Through the same door as login, so that wrong tries count towards the same rest."""
    found = authenticate(request, username=request.user.get_username(), password=password)
    return found is not None and found.pk == request.user.pk


urlpatterns = [
    path("login/", login, name="login"),
    path("logout/", log_out, name="logout"),
    path("password/", password_change, name="password_change"),
    path("password/again/", confirm_password, name="confirm_password"),
]
