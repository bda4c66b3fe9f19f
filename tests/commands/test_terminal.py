from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from memories.commands.terminal import ProgressLine, Screen, columns_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_is_eighty_columns_without_colour() -> None:
    assert Screen.of(io.StringIO()) == Screen(width=80, colour=False)


def test_a_terminal_has_colour() -> None:
    assert Screen.of(Terminal(), environ={}).colour


def test_no_color_turns_colour_off_on_a_terminal() -> None:
    assert not Screen.of(Terminal(), environ={"NO_COLOR": "1"}).colour


def test_an_empty_no_color_counts_as_unset() -> None:
    assert Screen.of(Terminal(), environ={"NO_COLOR": ""}).colour


def test_a_style_on_a_screen_without_colour_changes_nothing() -> None:
    assert Screen().style("words", "strong") == "words"


def test_a_path_longer_than_the_screen_is_not_cut() -> None:
    path = "/srv/" + "x" * 100
    assert path in Screen(width=40).wrap(f"the file is {path}")


@given(st.lists(st.text(st.characters(categories=("L", "N")), min_size=1, max_size=20)))
def test_wrapping_loses_no_word_and_keeps_the_width(words: list[str]) -> None:
    lines = Screen(width=40).wrap(" ".join(words), "  ")
    assert " ".join(lines).split() == " ".join(words).split()
    assert all(len(line) <= 40 for line in lines)


def test_left_and_right_share_a_line_that_is_as_wide_as_the_screen() -> None:
    assert Screen(width=20).across("left", "right") == "left           right"


def test_left_and_right_take_two_lines_where_they_do_not_fit() -> None:
    assert Screen(width=10).across("leftmost", "right") == "leftmost\n     right"


def test_wide_characters_count_two_columns_and_combining_marks_none() -> None:
    assert (columns_of("記憶"), columns_of("e\u0301")) == (4, 1)


def test_a_progress_line_shows_how_many_of_how_many_and_clears_itself() -> None:
    terminal = Terminal()
    with ProgressLine(terminal, "Storing", 1200) as line:
        line.show(1200)
    assert "Storing  1,200 of 1,200" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_progress_line_is_silent_in_a_pipe() -> None:
    pipe = io.StringIO()
    with ProgressLine(pipe, "Storing", 3) as line:
        line.show(3)
    assert pipe.getvalue() == ""
