"""A user of the generated Python client: submits a review, waits for it, reads it to the last field, downloads it."""

import json
import sys
import time

from trigpoint_client import Client
from trigpoint_client.api.downloads import download_review
from trigpoint_client.api.events import list_events
from trigpoint_client.api.reviews import get_review, get_review_status, submit_review
from trigpoint_client.models import FormatName, ReviewAccepted, ReviewDetail, ReviewSubmission

client = Client(base_url=sys.argv[1])
accepted = submit_review.sync(client=client, body=ReviewSubmission(application_ref="25/01178/REM"))
assert isinstance(accepted, ReviewAccepted), accepted
print("submitted", flush=True)
for _ in range(300):
    if get_review_status.sync(accepted.review_id, client=client).status == "completed":
        break
    time.sleep(0.1)
detail = get_review.sync(accepted.review_id, client=client)
assert isinstance(detail, ReviewDetail), detail
pdf = download_review.sync_detailed(accepted.review_id, client=client, format_=FormatName.PDF)
aspects = [(aspect.name, str(aspect.rating)) for aspect in detail.review.aspects]
events = list_events.sync(client=client)
shown = {
    "rating": str(detail.review.overall_rating),
    "aspects": aspects,
    "model": detail.metadata.model,
    "pdf": pdf.content[:5].decode(),
    "events": [str(entry.body.event) for entry in events.events],
}
print(json.dumps(shown))
