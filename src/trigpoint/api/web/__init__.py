"""The pages: server-rendered HTML at `/`, over the same services and tools as the REST API. They decide nothing."""
