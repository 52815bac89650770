"""A review led by a model: orient, read, judge, check and conclude, over a `ReviewDraft` that trusts none of it."""
