"""The web doors of maintenance. Django lives here and in ``management``, nowhere else in this package."""
