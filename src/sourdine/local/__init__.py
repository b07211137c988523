"""Local privacy: nobody ever holds the answers in the clear."""
