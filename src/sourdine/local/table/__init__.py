"""Tables: a schema of columns, and records that are randomised before anybody sees them."""
