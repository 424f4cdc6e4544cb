"""Attacks that classify whole releases by features of them."""
