"""The JSON API under ``/api/``: the older suite's paths, our answers, the errors of every other door."""
