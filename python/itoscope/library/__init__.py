"""Libraries of candidate terms."""
