"""The planning portal: reading a page of 2,200 documents, and making the sample documents."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.report import Report, percentile_ms
from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint.registers.atrium_documents import parse_documents
from trigpoint.registers.labels import parse_html

DOCUMENTS = 2200

_HEAD = "".join(
    f"<th>{name}</th>" for name in ("All", "Document Type", "Date", "Description", "File Size", "Drawing/Rev Number")
)
_ROW = (
    '<tr><td><input type="checkbox" data-filename="Plan {0}.pdf"></td><td><a class="singledownloadlink" '
    'href="/Document/Download?module=PLA&amp;recordNumber=1&amp;planId={0}&amp;imageId={0}&amp;isPlan=True'
    '&amp;fileName=Plan%20{0}.pdf">Plan {0}.pdf</a></td><td>04/02/2025</td><td>Plan {0}</td>'
    '<td data-sort-value="150000">146 KB</td><td>P{0}</td></tr>'
)


def large_page(documents: int) -> str:
    rows = "".join(_ROW.format(n) for n in range(documents))
    return f"<table class=document-list><thead><tr>{_HEAD}</tr></thead><tbody><tr class=header><th>Site Plans</th></tr>{rows}</tbody></table>"


def run(report: Report) -> None:
    page = large_page(DOCUMENTS)
    assert len(parse_documents(parse_html(page), "https://register.example")) == DOCUMENTS
    p50, p95 = percentile_ms(lambda: parse_documents(parse_html(page), "https://register.example"), times=20, warm=1)
    report.row(f"page of {DOCUMENTS:,} documents, p50", p50, "ms", bar="<= 1000")
    report.row(f"page of {DOCUMENTS:,} documents, p95", p95, "ms", bar="<= 1000")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        made = sample_documents(load_settings(trigpoint_data_dir=Path(folder)))
        report.row(
            "making all sample documents",
            time.perf_counter() - start,
            "s",
            bar="<= 5",
            note=f"{sum(map(len, made.values()))} files",
        )
