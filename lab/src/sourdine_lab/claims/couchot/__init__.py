"""The claims of Couchot 2023."""
