"""Every answer about a sample costs bits, and bits cost width."""
