"""One sample, ten thousand questions, each of which may follow from the answers before it."""
