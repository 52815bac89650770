"""Policy as of a date: policies, their dated revisions, and the passages that can be cited from them."""
