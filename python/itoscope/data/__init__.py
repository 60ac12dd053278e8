"""Recorded trajectories, and the files and tables that they come from."""
