"""The worlds that cases play in."""
