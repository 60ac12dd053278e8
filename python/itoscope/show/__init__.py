"""Findings in print, pictures, pages and files."""
