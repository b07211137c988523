"""A guard for evaluation data that people, leaderboards and agents use again and again."""
