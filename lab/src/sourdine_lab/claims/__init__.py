"""Every claim of the documents, judged by what is computed."""
