"""Whether the judge, a run and a change of numbers can be trusted."""
