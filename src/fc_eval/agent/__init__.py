"""The conversation between a model and its tools."""
