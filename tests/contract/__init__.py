"""Tests of the write contract."""
