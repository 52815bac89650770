"""Reviews: an application judged against the policy in force on its day, each claim linked to the passage it comes from."""
