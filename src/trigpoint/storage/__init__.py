"""Opens a store, embedded or by URL; knows nothing of the domain."""
