"""From text to cases: what a line must look like, what it may name, what makes a suite."""
