"""The server of a board: it takes submissions, has them judged, and serves pages (``trueedge[serve]``)."""
