"""Run by the fault tests: ingests one file in a process of its own, then prints everything that the store holds.

python ingest_process.py DATA_DIR FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from document_bench import REF

from trigpoint.config import load_settings
from trigpoint.documents.ingest import DocumentIngest, IngestRequest
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore


def state(store: DocumentStore) -> dict[str, object]:
    """All that anybody can see, but for the moment of ingestion."""
    search = DocumentSearch(store).search
    modes = ("semantic", "hybrid")
    return {
        "registry": [{**row.metadata(), "ingested_at": ""} for row in store.registry.rows().values()],
        "passages": [(r.id, r.text, r.metadata) for r in store.passages.records.get()],
        "texts": {i: store.text_of(i)[2] for i in store.registry.rows()},
        "lexical": store.passages.lexical.groups(),
        "found": [[p.model_dump() for p in search("survey item", max_results=100, mode=m)] for m in modes],
    }


def main() -> None:
    settings = load_settings(trigpoint_data_dir=Path(sys.argv[1]), text_workers=1)
    with DocumentStore(settings) as store:
        ingest = DocumentIngest(settings, store)
        seen = len(DocumentSearch(store).search("survey item", max_results=100))
        print(json.dumps({"seen_before": seen}), flush=True)
        outcome = ingest.ingest(IngestRequest(sys.argv[2], REF))
        print(json.dumps({"outcome": outcome.model_dump(mode="json")}), flush=True)
        if settings.chroma_url is not None:  # its words are in memory, read by the first search that needs them
            DocumentSearch(store).search("survey item", mode="hybrid")
        print(json.dumps({"state": state(store)}, sort_keys=True), flush=True)
        ingest.processor.close()


if __name__ == "__main__":
    main()
