"""Statements, one file each: what is guaranteed, from which counts, by which bound, and in which words.

A new kind of statement is a new file in this folder with a subclass of `Statement` that has a tag.
"""
