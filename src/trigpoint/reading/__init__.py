"""What an application's documents say: the development's profile, statements, facts, arithmetic and contradictions."""
