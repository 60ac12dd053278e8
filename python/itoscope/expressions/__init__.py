"""Expressions: what they mean and how they are written."""
