"""Loops over the bytes of text files and over edge lists."""
