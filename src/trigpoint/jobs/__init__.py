"""Work that runs later and survives a crash: the queue, the worker, the reviews' records, the webhooks' outbox."""
