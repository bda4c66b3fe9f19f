"""Where Django looks for this app's commands."""
