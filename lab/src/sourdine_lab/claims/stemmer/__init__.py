"""Claims of Stemmer's lecture 9."""
