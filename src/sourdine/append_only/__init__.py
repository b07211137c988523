"""A file that only grows: what is written in it survives kills, forks and other writers."""

from sourdine.append_only.alone import Alone
from sourdine.append_only.book import Book, Page
from sourdine.append_only.kept import FileKind, Kept, now

__all__ = ["Alone", "Book", "FileKind", "Kept", "Page", "now"]
