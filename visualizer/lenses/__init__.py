"""Lenses: what to draw of a record. Every number on screen comes through here, off the tape."""
