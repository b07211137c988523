"""From records to randomised records: blocks, workers, frames and files."""
