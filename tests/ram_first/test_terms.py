"""From a query to its terms, to the index's expression and to the substring test."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from hermes_plugin.ram_first_context.terms import Term, match_expression, parse_terms, substring_test

ANY_TEXT = st.text(st.characters(), max_size=80)  # lone surrogates and NUL too


def test_any_white_space_separates_terms():
    assert parse_terms(" a\tb\n\u00a0c ") == (Term("a", False), Term("b", False), Term("c", False))


def test_a_trailing_star_makes_a_prefix():
    assert parse_terms("deploy*") == (Term("deploy", True),)


def test_a_star_elsewhere_is_part_of_the_word():
    assert parse_terms("*de*ploy") == (Term("*de*ploy", False),)


def test_a_word_of_stars_alone_is_no_term():
    assert parse_terms("* a ***") == (Term("a", False),)


def test_a_repeated_term_counts_once():
    assert parse_terms("a b a " * 1000) == (Term("a", False), Term("b", False))


def test_nul_and_lone_surrogates_separate_words():
    assert parse_terms("a\0b\ud800c") == (Term("a", False), Term("b", False), Term("c", False))


def test_a_quote_is_doubled_inside_the_quotes():
    assert match_expression(parse_terms('say "hi"* AND')) == '"say" """hi"""* "AND"'


@given(ANY_TEXT)
def test_the_index_accepts_every_expression(query: str):
    terms = parse_terms(query)
    if terms:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE notes USING fts5(content)")
            matched = connection.execute(
                "SELECT 1 FROM notes WHERE notes MATCH ?", (match_expression(terms),)
            )
            assert matched.fetchall() == []


@given(ANY_TEXT, ANY_TEXT)
def test_a_text_has_the_terms_it_is_made_of(before: str, query: str):
    terms = parse_terms(query)
    assert substring_test(terms)(before + " ".join(term.text for term in terms))


def test_the_substring_test_wants_every_term():
    has_both = substring_test(parse_terms("tea pot"))
    assert has_both("the POT for Tea")
    assert not has_both("the pot for coffee")


def test_the_substring_test_folds_case_in_every_script():
    assert substring_test(parse_terms("SMØRBRØD straße"))("Smørbrød in der STRASSE")


def test_what_is_no_text_has_no_term():
    assert not substring_test(parse_terms("a"))(None)
