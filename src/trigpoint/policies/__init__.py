"""Policy as it stood on a date: policies, their dated revisions, and the passages that can be cited from them."""
