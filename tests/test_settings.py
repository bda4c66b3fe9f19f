from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memories.settings import Settings, load_settings, private_directory

Files = Callable[..., None]


@pytest.fixture
def write(hermes_home: Path) -> Files:
    """Write config.json from a mapping or text, and Hermes' config.yaml from text."""

    def write_files(*, json_config: object = None, yaml_config: str | bytes | None = None) -> None:
        (hermes_home / "lancedb-suite").mkdir(parents=True, exist_ok=True)
        if json_config is not None:
            text = json_config if isinstance(json_config, str) else json.dumps(json_config)
            (hermes_home / "lancedb-suite" / "config.json").write_text(text, encoding="utf-8")
        if yaml_config is not None:
            content = yaml_config if isinstance(yaml_config, bytes) else yaml_config.encode()
            (hermes_home / "config.yaml").write_bytes(content)

    return write_files


def load(home: Path, environ: Mapping[str, str] | None = None, **arguments: str | None) -> Settings:
    return load_settings(environ={"HERMES_HOME": str(home), **(environ or {})}, **arguments)


# --- defaults and places -------------------------------------------------------------


def test_without_anything_said_the_defaults_hold(hermes_home: Path) -> None:
    settings = load(hermes_home)

    assert settings.db_path == hermes_home / "lancedb"
    assert settings.embed_model == ""
    assert settings.ollama_host == "http://127.0.0.1:11434"
    assert (settings.auto_prefetch, settings.auto_capture, settings.fsync) == (False, False, True)
    assert (settings.capture_dedup_threshold, settings.prefetch_budget_chars) == (0.88, 1500)
    assert (settings.conflict_resolved_limit, settings.write_limit) == (1000, 200)
    assert settings.wings == {}
    assert settings.console_https is False
    assert settings.warnings == ()
    assert {s for name, s in settings.sources.items() if name != "hermes_home"} == {"default"}


def test_the_suite_keeps_its_files_together_under_the_home(hermes_home: Path) -> None:
    settings = load(hermes_home)
    suite = hermes_home / "lancedb-suite"

    assert settings.suite_dir == suite
    assert settings.cache_dir == suite / "cache"
    assert settings.console_db == suite / "console.db"
    assert settings.secret_file == suite / "secret"
    assert settings.config_file == suite / "config.json"
    assert settings.backups_dir == hermes_home / "backups" / "lancedb-suite"


def test_loading_creates_nothing(hermes_home: Path) -> None:
    load(hermes_home)

    assert not hermes_home.exists()


# --- the Hermes home -----------------------------------------------------------------


def test_the_home_is_dot_hermes_in_the_users_home() -> None:
    settings = load_settings(environ={"HOME": "/home/ada"})

    assert settings.hermes_home == Path("/home/ada/.hermes")
    assert settings.sources["hermes_home"] == "default"


def test_an_empty_home_variable_counts_as_unset() -> None:
    assert load_settings(environ={"HOME": "/home/ada", "HERMES_HOME": " "}).hermes_home.name == ".hermes"


def test_the_home_argument_beats_the_variable(tmp_path: Path) -> None:
    settings = load_settings(hermes_home=tmp_path / "given", environ={"HERMES_HOME": str(tmp_path / "env")})

    assert settings.hermes_home == tmp_path / "given"
    assert settings.sources["hermes_home"] == "argument"


def test_each_call_reads_the_process_environment_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        monkeypatch.setenv("HERMES_HOME", str(tmp_path / name))
        assert load_settings().hermes_home == tmp_path / name


# --- precedence ----------------------------------------------------------------------

LEVELS = [
    "argument",
    "MEMSUITE_EMBED_MODEL",
    "config.json",
    "config.yaml memory.lancedb-suite",
    "config.yaml memory.lancedb",
    "default",
]


@pytest.mark.parametrize("highest", range(len(LEVELS)), ids=LEVELS)
def test_the_highest_source_that_speaks_wins(hermes_home: Path, write: Files, highest: int) -> None:
    def stated(level: int) -> str:
        return f"model-{level}" if level >= highest else ""

    write(
        json_config={"embed_model": stated(2)},
        yaml_config=(
            "memory:\n"
            f"  lancedb-suite: {{embed_model: '{stated(3)}'}}\n"
            f"  lancedb: {{embed_model: '{stated(4)}'}}\n"
        ),
    )

    settings = load(hermes_home, {"MEMSUITE_EMBED_MODEL": stated(1)}, embed_model=stated(0) or None)

    assert settings.embed_model == (f"model-{highest}" if highest < 5 else "")
    assert settings.sources["embed_model"] == LEVELS[highest]
    assert settings.warnings == ()


def test_the_database_argument_beats_the_variable(hermes_home: Path, tmp_path: Path) -> None:
    settings = load(hermes_home, {"MEMSUITE_DB_PATH": str(tmp_path / "e")}, db_path=str(tmp_path / "a"))

    assert settings.db_path == tmp_path / "a"


def test_sources_are_merged_setting_by_setting(hermes_home: Path, write: Files) -> None:
    write(
        json_config={"auto_prefetch": True},
        yaml_config="memory: {lancedb: {auto_capture: true, auto_prefetch: false}}",
    )
    settings = load(hermes_home, {"MEMSUITE_FSYNC": "off"})

    assert (settings.auto_prefetch, settings.auto_capture, settings.fsync) == (True, True, False)


@pytest.mark.parametrize("nothing", [None, "", "   "])
def test_an_empty_value_in_a_file_counts_as_unset(hermes_home: Path, write: Files, nothing: object) -> None:
    write(json_config={"embed_model": nothing}, yaml_config="memory: {lancedb: {embed_model: below}}")

    assert load(hermes_home).embed_model == "below"


def test_an_empty_variable_counts_as_unset(hermes_home: Path, write: Files) -> None:
    write(json_config={"write_limit": 7})

    assert load(hermes_home, {"MEMSUITE_WRITE_LIMIT": ""}).write_limit == 7


def test_ollamas_own_variable_names_its_host(hermes_home: Path, write: Files) -> None:
    write(json_config={"ollama_host": "from-file:1"})

    settings = load(hermes_home, {"OLLAMA_HOST": "box:11434"})

    assert settings.ollama_host == "box:11434"
    assert settings.sources["ollama_host"] == "OLLAMA_HOST"


def test_our_variable_for_the_ollama_host_beats_ollamas_own(hermes_home: Path) -> None:
    settings = load(hermes_home, {"OLLAMA_HOST": "a:1", "MEMSUITE_OLLAMA_HOST": "b:2"})

    assert settings.ollama_host == "b:2"


def test_the_older_suites_conflict_limit_is_understood(hermes_home: Path) -> None:
    assert load(hermes_home, {"LANCEDB_CONFLICT_RESOLVED_LIMIT": "12"}).conflict_resolved_limit == 12


def test_our_conflict_limit_beats_the_older_name(hermes_home: Path) -> None:
    environ = {"LANCEDB_CONFLICT_RESOLVED_LIMIT": "12", "MEMSUITE_CONFLICT_RESOLVED_LIMIT": "13"}

    assert load(hermes_home, environ).conflict_resolved_limit == 13


# --- values --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "flag"), [("on", True), ("1", True), ("TRUE", True), ("No", False), ("0", False), ("off", False)]
)
def test_a_switch_is_written_in_words_or_digits(hermes_home: Path, raw: str, flag: bool) -> None:
    assert load(hermes_home, {"MEMSUITE_AUTO_CAPTURE": raw}).auto_capture is flag


def test_numbers_may_be_written_as_text(hermes_home: Path, write: Files) -> None:
    write(json_config={"prefetch_budget_chars": "800", "capture_dedup_threshold": "0.5", "write_limit": 3.0})
    settings = load(hermes_home)

    assert (settings.prefetch_budget_chars, settings.capture_dedup_threshold) == (800, 0.5)
    assert settings.write_limit == 3


def test_wings_map_to_keywords_in_the_order_written(hermes_home: Path, write: Files) -> None:
    write(yaml_config="memory: {lancedb: {wings: {hytte: [ved, ' snø ', 3, ''], bok: roman}}}")

    assert list(load(hermes_home).wings.items()) == [("hytte", ("ved", "snø")), ("bok", ("roman",))]


def test_wings_in_a_variable_are_json(hermes_home: Path) -> None:
    assert load(hermes_home, {"MEMSUITE_WINGS": '{"bok": ["roman"]}'}).wings == {"bok": ("roman",)}


def test_wings_cannot_be_changed_afterwards(hermes_home: Path) -> None:
    wings = load(hermes_home, {"MEMSUITE_WINGS": '{"bok": ["roman"]}'}).wings

    with pytest.raises(TypeError):
        wings["other"] = ()  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("auto_prefetch", "perhaps"),
        ("auto_prefetch", 1),
        ("prefetch_budget_chars", 0),
        ("prefetch_budget_chars", 10_001),
        ("prefetch_budget_chars", True),
        ("write_limit", -1),
        ("write_limit", 1.5),
        ("write_limit", "many"),
        ("write_limit", "inf"),
        ("conflict_resolved_limit", [1]),
        ("capture_dedup_threshold", 1.01),
        ("capture_dedup_threshold", "nan"),
        ("embed_model", 5),
        ("db_path", 5),
        ("db_path", "a\0b"),
        ("wings", ["bok"]),
        ("wings", {"bok": 5}),
        ("wings", {"": ["x"]}),
        ("wings", "not json"),
        ("allowed_secret_patterns", "["),
        ("allowed_secret_patterns", [5]),
        ("allowed_secret_patterns", '["a", "("]'),
    ],
)
def test_an_unusable_value_is_named_and_the_default_holds(
    hermes_home: Path, write: Files, name: str, raw: object
) -> None:
    default = getattr(load(hermes_home), name)
    write(json_config={name: raw})
    settings = load(hermes_home)

    assert getattr(settings, name) == default
    assert settings.sources[name] == "default"
    [warning] = settings.warnings
    assert warning.startswith(f"{name} from config.json is not usable")


def test_after_an_unusable_value_the_next_source_is_asked(hermes_home: Path, write: Files) -> None:
    write(json_config={"write_limit": 9})
    settings = load(hermes_home, {"MEMSUITE_WRITE_LIMIT": "lots"})

    assert settings.write_limit == 9
    assert settings.warnings == (
        "write_limit from MEMSUITE_WRITE_LIMIT is not usable, a whole number from 0 to 1000000 is expected",
    )


# --- what is not understood ----------------------------------------------------------


def test_unknown_keys_are_named_with_their_place(hermes_home: Path, write: Files) -> None:
    write(json_config={"dbpath": "x"}, yaml_config="memory: {lancedb: {auto_prefetsch: true, 5: x}}")
    warnings = load(hermes_home).warnings

    assert len(warnings) == 3
    assert "config.json" in warnings[0] and "'dbpath'" in warnings[0]
    assert "config.yaml memory.lancedb" in warnings[1] and "'auto_prefetsch'" in warnings[1]


def test_an_unknown_variable_of_ours_is_named(hermes_home: Path) -> None:
    [warning] = load(hermes_home, {"MEMSUITE_DBPATH": "x"}).warnings

    assert "MEMSUITE_DBPATH" in warning


def test_other_parts_of_hermes_configuration_are_none_of_ours(hermes_home: Path, write: Files) -> None:
    write(yaml_config="model: {default: x}\nmemory: {provider: lancedb-suite, memory_enabled: true}\n")

    assert load(hermes_home).warnings == ()


@pytest.mark.parametrize(
    "broken", ["memory: [", "memory: {lancedb: {a: b}", "\t- x", "a: &a [*b]", b"\xff\xfe\x00"]
)
def test_a_broken_hermes_configuration_is_a_warning(
    hermes_home: Path, write: Files, broken: str | bytes
) -> None:
    write(json_config={"write_limit": 5}, yaml_config=broken)
    settings = load(hermes_home)

    assert settings.write_limit == 5
    [warning] = settings.warnings
    assert warning.startswith("config.yaml is broken")


def test_a_warning_about_hermes_configuration_quotes_none_of_it(hermes_home: Path, write: Files) -> None:
    write(yaml_config="api_key: 'sk-live-12345\nother: [")
    [warning] = load(hermes_home).warnings

    assert "sk-live" not in warning


@pytest.mark.parametrize("broken", ["{", "[1, 2]", '"text"', "[" * 100_000])
def test_a_broken_config_json_is_a_warning(hermes_home: Path, write: Files, broken: str) -> None:
    write(json_config=broken, yaml_config="memory: {lancedb: {write_limit: 6}}")
    settings = load(hermes_home)

    assert settings.write_limit == 6
    [warning] = settings.warnings
    assert warning.startswith("config.json is")


def test_a_section_that_is_no_mapping_is_a_warning(hermes_home: Path, write: Files) -> None:
    write(yaml_config="memory: {lancedb: yes please}")
    [warning] = load(hermes_home).warnings

    assert warning.startswith("config.yaml memory.lancedb is not a mapping")


def test_a_file_that_cannot_be_read_is_a_warning(hermes_home: Path) -> None:
    (hermes_home / "config.yaml").mkdir(parents=True)
    [warning] = load(hermes_home).warnings

    assert warning.startswith("config.yaml cannot be read")


def test_a_byte_order_mark_is_no_part_of_a_file(hermes_home: Path, write: Files) -> None:
    write(json_config='\ufeff{"write_limit": 4}')

    assert load(hermes_home).write_limit == 4


# --- paths ---------------------------------------------------------------------------


def test_a_tilde_is_the_users_home(hermes_home: Path) -> None:
    environ = {"HOME": "/home/ada", "MEMSUITE_DB_PATH": "~/memories"}

    assert load(hermes_home, environ).db_path == Path("/home/ada/memories")


@pytest.mark.parametrize("written", ["$PLACE/m", "${PLACE}/m"])
def test_variables_in_a_path_are_expanded(hermes_home: Path, write: Files, written: str) -> None:
    write(json_config={"db_path": written})

    assert load(hermes_home, {"PLACE": "/srv/x"}).db_path == Path("/srv/x/m")


def test_a_variable_that_is_not_set_stays_as_written(hermes_home: Path) -> None:
    assert load(hermes_home, {"MEMSUITE_DB_PATH": "/srv/$nowhere/m"}).db_path == Path("/srv/$nowhere/m")


def test_a_path_object_is_taken_as_it_is(tmp_path: Path) -> None:
    settings = load_settings(hermes_home=tmp_path / "$PLACE", environ={"PLACE": "/srv/x"})

    assert settings.hermes_home == tmp_path / "$PLACE"


def test_a_relative_path_in_a_file_is_meant_from_the_home(hermes_home: Path, write: Files) -> None:
    write(json_config={"db_path": "other/lancedb"})

    assert load(hermes_home).db_path == hermes_home / "other" / "lancedb"


def test_a_relative_path_in_a_variable_is_meant_from_the_working_directory(
    hermes_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert load(hermes_home, {"MEMSUITE_DB_PATH": "here"}).db_path == tmp_path / "here"


@pytest.mark.parametrize(
    "name", ["with blanks", "é", "漢字", "a#b", "a?b", "100%", "a=b&c", "~odd", "quote'\""]
)
def test_odd_names_survive_in_every_source(
    hermes_home: Path, write: Files, tmp_path: Path, name: str
) -> None:
    place = tmp_path / name / "db"

    assert load(hermes_home, db_path=str(place)).db_path == place
    assert load(hermes_home, {"MEMSUITE_DB_PATH": str(place)}).db_path == place
    write(json_config={"db_path": str(place)})
    assert load(hermes_home).db_path == place
    write(json_config={}, yaml_config=f"memory: {{lancedb: {{db_path: {json.dumps(str(place))}}}}}")
    assert load(hermes_home).db_path == place


@pytest.mark.parametrize("name", ["with blanks", "é", "漢字", "a#b", "a?b", "100%"])
def test_files_are_found_in_a_home_with_an_odd_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    private_directory(home / "lancedb-suite")
    (home / "lancedb-suite" / "config.json").write_text('{"write_limit": 8}')

    assert load_settings(hermes_home=str(home), environ={}).write_limit == 8


def test_a_private_directory_and_its_new_parents_are_closed_to_others(tmp_path: Path) -> None:
    made = private_directory(tmp_path / "a" / "b")

    assert [stat.S_IMODE(place.stat().st_mode) for place in (made.parent, made)] == [0o700, 0o700]


def test_a_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)

    assert stat.S_IMODE(private_directory(tmp_path / "open").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("raw", "patterns"),
    [("test-[0-9]+", ("test-[0-9]+",)), ('["a+", "[b]"]', ("a+", "[b]")), ("[ab]{3}", ("[ab]{3}",))],
)
def test_allowed_secret_patterns_are_one_expression_or_a_list(
    hermes_home: Path, raw: str, patterns: tuple[str, ...]
) -> None:
    assert load(hermes_home, {"MEMSUITE_ALLOWED_SECRET_PATTERNS": raw}).allowed_secret_patterns == patterns
