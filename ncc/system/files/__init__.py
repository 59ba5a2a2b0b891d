"""Files, their formats, and text for people."""
