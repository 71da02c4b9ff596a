"""Promises: who is counted, what the counted rows showed, and what that proves."""
