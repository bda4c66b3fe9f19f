"""People and groups in the admin: a name, a password, groups. Administrators are the superusers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Field, ManyToManyField
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memories.console.tags import when

OURS = ("memories", "maintenance")
"""The apps whose permissions a group may hold. Who manages people is an administrator, not a group."""


class RightsField(forms.ModelMultipleChoiceField):
    """Rights as check boxes, in their own words."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, right: Any) -> str:
        return str(right.name)


class _Plain(admin.ModelAdmin):
    """The admin's list and form without what a handful of rows has no use for."""

    actions = None
    title = ""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": self.title, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().render_change_form(request, context, *args, **kwargs)


class PersonAdmin(_Plain, UserAdmin):
    title = "Users"
    list_display = ("username", "standing", "is_active", "last_seen")
    list_filter = ()
    search_fields = ()
    fieldsets = (
        (None, {"fields": ("username", "password_of")}),
        ("Rights", {"fields": ("is_active", "groups", "is_superuser")}),
        ("Dates", {"fields": ("last_seen", "joined")}),
    )
    add_form = UserCreationForm
    add_form_template = "admin/change_form.html"
    add_fieldsets = (
        (None, {"fields": ("username", "password1", "password2")}),
        ("Rights", {"fields": ("groups",)}),
    )
    readonly_fields = ("password_of", "last_seen", "joined")
    filter_horizontal = ()

    @admin.display(description="Standing")
    def standing(self, person: User) -> str:
        if person.is_superuser:
            return "administrator"
        return ", ".join(group.name.lower() for group in person.groups.all()) or "no group"

    @admin.display(description="Last login", ordering="last_login")
    def last_seen(self, person: User) -> SafeString:
        return when(person.last_login)

    @admin.display(description="Joined")
    def joined(self, person: User) -> SafeString:
        return when(person.date_joined)

    @admin.display(description="Password")
    def password_of(self, person: User) -> SafeString:
        """A way to set it; what is stored of it is nobody's business."""
        url = reverse("admin:auth_user_password_change", args=[person.pk])
        return format_html('<a class="m-btn" href="{}">Set a new password</a>', url)

    def formfield_for_manytomany(self, db_field: ManyToManyField, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "groups":
            rights = "Viewer reads. Curator also changes. Operator also purges and maintains."
            return RightsField(Group.objects.all(), required=False, help_text=rights)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Field, request: Any, **kwargs: Any) -> Any:
        shown = super().formfield_for_dbfield(db_field, request, **kwargs)
        if shown is not None and db_field.name == "is_superuser":
            shown.label, shown.help_text = "Administrator", "May do everything, and manages people."
        elif shown is not None and db_field.name == "is_active":
            shown.help_text = "Switch this off instead of deleting a person: their history keeps its name."
        elif shown is not None and db_field.name == "username":
            shown.label, shown.help_text = "Name", "Letters, digits and @ . + - _, at most 150."
        return shown


class TeamAdmin(_Plain, GroupAdmin):
    title = "Groups"
    search_fields = ()
    filter_horizontal = ()

    def formfield_for_manytomany(
        self, db_field: ManyToManyField, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        rights = Permission.objects.filter(content_type__app_label__in=OURS).order_by("content_type", "pk")
        return RightsField(rights, required=False, label="Rights")
