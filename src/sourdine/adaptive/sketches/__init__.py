"""Sketches that keep their promise when the stream reacts to their answers."""
