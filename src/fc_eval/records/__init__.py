"""What the layers hand each other and what is written to disk."""
