"""What a discovery found, as data, and what follows from it by simulation."""
