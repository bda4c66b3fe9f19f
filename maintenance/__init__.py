"""Upkeep: looking after the database files, and measuring."""
