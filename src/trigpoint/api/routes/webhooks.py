"""The outcome of a review's webhooks, and sending one of them again. An addition to the contract."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from trigpoint.api.schemas.errors import errors
from trigpoint.api.schemas.reviews import RedeliveryAccepted, WebhookDeliveries, WebhookDelivery
from trigpoint.api.services import Use

router = APIRouter(prefix="/reviews/{review_id}/webhooks", tags=["Webhooks"])


@router.get("", responses=errors(404))
async def list_webhook_deliveries(review_id: str, use: Use) -> WebhookDeliveries:
    """List every delivery of a review, oldest first, with its tries and its outcome."""
    await use.reviews.status(review_id)
    records = await use.outbox.log(review_id)
    deliveries = [WebhookDelivery(**asdict(record)) for record in records]
    return WebhookDeliveries(review_id=review_id, deliveries=deliveries, total=len(deliveries))


@router.post("/{delivery_id}/redeliver", status_code=202, responses=errors(404, 409))
async def redeliver_webhook(review_id: str, delivery_id: str, use: Use) -> RedeliveryAccepted:
    """Send an event again, with its old body and delivery id. Only after it was delivered or given up."""
    await use.reviews.status(review_id)
    await use.outbox.redeliver(review_id, delivery_id)
    return RedeliveryAccepted(review_id=review_id, delivery_id=delivery_id, status="pending")
