"""Sensors: what each column of a recording shows of the states, and how well."""
