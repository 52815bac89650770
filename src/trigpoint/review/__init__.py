"""Reviews: an application judged against the policy in force on its day, each claim fixed to a passage."""
