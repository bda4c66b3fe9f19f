"""Reading a page as a person does: its words, its forms, where they lead."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

_SILENT = ("script", "style", "svg")
_VOID = ("input", "br", "hr", "img", "meta", "link", "option")


@dataclass
class Form:
    """A form with the values it would send untouched; ``buttons`` are its submit buttons by their words."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._silent = 0
        self._form: Form | None = None
        self._named: dict[str, Form] = {}
        self._select = ""
        self._button: tuple[str, str] | None = None
        self._label = ""
        self._pressed: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _SILENT:
            self._silent += 1
        elif tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "form":
            self._form = Form(given.get("action", ""), given.get("method", "get"))
            self.forms.append(self._form)
            self._named[given.get("id", "")] = self._form
        elif tag == "button" and given.get("type") == "submit":
            self._button, self._label = (given.get("name", ""), given.get("value", "")), ""
            self._pressed = self._named.get(given.get("form", "")) if "form" in given else self._form
        elif self._form is None:
            return
        elif (
            tag == "input"
            and "name" in given
            and (given.get("type") not in ("checkbox", "radio") or "checked" in given)
        ):
            self._form.fields.append((given["name"], given.get("value", "")))
        elif tag == "textarea":
            self._form.fields.append((given["name"], ""))
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and self._select:
            first = self._select not in dict(self._form.fields)
            if first or "selected" in given:
                self._form.fields = [pair for pair in self._form.fields if pair[0] != self._select]
                self._form.fields.append((self._select, given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent -= 1
        elif tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""
        elif tag == "button" and self._button is not None:
            if self._pressed is not None:
                self._pressed.buttons[" ".join(self._label.split())] = self._button
            self._button = None

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)
        if self._button is not None:
            self._label += data


class Page:
    """An answer as it reads."""

    def __init__(self, answer: HttpResponse) -> None:
        reader = _Reader()
        reader.feed(answer.content.decode())
        self.text = " ".join(" ".join(reader.words).split())
        self.forms, self.links = reader.forms, reader.links
        for form in self.forms:
            # A form without an address is sent to that of its page.
            form.action = form.action or answer.request["PATH_INFO"]

    def form(self, button: str) -> Form:
        """The first form with a button of these words."""
        return next(form for form in self.forms if button in form.buttons)

    def has_button(self, button: str) -> bool:
        return any(button in form.buttons for form in self.forms)


def press(client: Client, page: Page, button: str, **filled: Any) -> HttpResponse:
    """Send the form of a button as a browser without a script does, and follow where it leads."""
    form = page.form(button)
    pairs = [(name, value) for name, value in form.fields if name not in filled]
    pairs += [
        (name, one)
        for name, value in filled.items()
        for one in ([value] if isinstance(value, str) else value)
    ]
    if form.buttons[button][0]:
        pairs.append(form.buttons[button])
    sent: dict[str, list[str]] = {}
    for name, value in pairs:
        sent.setdefault(name, []).append(value)
    call = client.post if form.method == "post" else client.get
    return call(form.action, sent, follow=True)
