"""A file becomes pages, passages and vectors."""
