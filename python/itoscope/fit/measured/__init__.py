"""Fits of states that were measured."""
