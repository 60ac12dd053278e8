"""Stochastic differential equations that are given: simulation and named systems."""
