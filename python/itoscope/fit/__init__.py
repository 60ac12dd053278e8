"""From a question to findings."""
