"""How numbers and pictures are shown."""
