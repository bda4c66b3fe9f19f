"""The Django site: settings, addresses, and the door a web server calls."""
