"""Tests of screening."""
