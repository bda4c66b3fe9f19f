"""Checks of the settings: what is set, where it comes from, and what was written but has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from maintenance.doctor.findings import Finding, good, note, problem
from memories.settings import Settings

# Sources that are neither the process environment nor a default.
_FILE_SOURCES = ("config.json", "config.yaml")
_OTHER_SOURCES = ("argument", "default")


def examine_settings(settings: Settings) -> Iterator[Finding]:
    """What differs from the defaults, what the environment overrides, what could not be used."""
    chosen = {name: source for name, source in settings.sources.items() if source != "default"}
    if chosen:
        listed = ", ".join(f"{name} from {source}" for name, source in chosen.items())
        yield good("settings", f"Set: {listed}.", sources=chosen)
    else:
        yield good("settings", "Every setting has its default.", sources={})
    yield from _overrides(settings)
    for warning in settings.warnings:
        yield problem(
            "settings_warning",
            f"A setting has no effect: {warning}.",
            "Correct or remove it; docs/settings.md lists every setting.",
        )


def _overrides(settings: Settings) -> Iterator[Finding]:
    for name, source in settings.sources.items():
        if name != "hermes_home" and source not in _OTHER_SOURCES and not source.startswith(_FILE_SOURCES):
            yield note(
                "environment",
                f"The variable {source} decides {name}; in a process that serves several profiles it holds "
                "for all of them.",
                f"Unset {source} and write {name} into {settings.config_file} to decide it for each profile.",
                setting=name,
                variable=source,
            )
