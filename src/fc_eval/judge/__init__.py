"""From a trace to a verdict: pure, deterministic, offline."""
