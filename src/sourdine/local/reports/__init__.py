"""Reports on their way: a record of one person's randomised answers, and what adds them up."""
