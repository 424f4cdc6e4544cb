"""Attacks that compare single records with a released table."""
