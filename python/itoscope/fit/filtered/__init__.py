"""Fits of noisy or partly seen recordings."""
