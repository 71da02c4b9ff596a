"""Tolerance to errors in cells: which answers cannot change while cells are off by a declared amount."""
