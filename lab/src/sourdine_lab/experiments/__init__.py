"""One module an experiment, by document."""
