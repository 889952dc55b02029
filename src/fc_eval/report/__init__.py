"""From verdicts to pages: what a judged run comes to, and how it is shown."""
