"""Sends a webhook: signed, within ten seconds, without following redirects, and in production to public addresses only.

The address that was checked is the one that is connected to, so that a name that changes its mind in between
(DNS rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import socket
import time
from urllib.parse import SplitResult, urlsplit

import httpx

from trigpoint.errors import InvalidInput, shorten
from trigpoint.jobs.webhooks import Delivery, Outcome

TIMEOUT_SECONDS = 10.0
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # all that has been allocated; the rest is local, or a form of IPv4
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class WebhookSender:
    """Delivers webhooks. `public_only` refuses private, loopback and link-local addresses."""

    def __init__(self, *, public_only: bool, timeout: float = TIMEOUT_SECONDS) -> None:
        self._public_only = public_only
        self._timeout = timeout
        self._http = httpx.AsyncClient(
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"User-Agent": "Trigpoint-Webhooks/1.0"},
        )

    async def send(self, delivery: Delivery) -> Outcome:
        """Try once. Any failure is an outcome, not an exception."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._post(delivery)
        except TimeoutError:
            return Outcome(error=f"no answer within {self._timeout:g} s")
        except InvalidInput as error:
            return Outcome(error=error.message)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return Outcome(error=shorten(f"{type(error).__name__}: {error}", 200))

    async def _post(self, delivery: Delivery) -> Outcome:
        parts = urlsplit(delivery.url)
        host = parts.hostname or ""
        port = parts.port or _default_port(parts.scheme)
        addresses = await resolve(host, port, public_only=self._public_only)
        patience = self._timeout / len(addresses)  # one that is silent leaves time for the others
        for address in addresses[:-1]:
            try:
                return await self._post_to(address, parts, delivery, patience)
            except (httpx.ConnectError, httpx.ConnectTimeout):  # nothing was sent yet
                continue
        return await self._post_to(addresses[-1], parts, delivery, patience)

    async def _post_to(self, address: str, parts: SplitResult, delivery: Delivery, patience: float) -> Outcome:
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        user, at, _ = parts.netloc.rpartition("@")
        body, moment = delivery.body.encode(), int(time.time())
        request = self._http.build_request(
            "POST",
            parts._replace(netloc=f"{user}{at}{_bracketed(address)}{port}", fragment="").geturl(),
            content=body,
            headers={
                "Host": f"{_bracketed(host)}{port}",
                "Content-Type": "application/json",
                "X-Webhook-Signature": sign(body, delivery.secret),
                "X-Webhook-Event": delivery.event,
                "X-Webhook-Delivery-Id": delivery.delivery_id,
                "X-Webhook-Timestamp": str(moment),
                "X-Webhook-Signature-Timestamped": f"t={moment},v1={sign(b'%d.' % moment + body, delivery.secret)}",
            },
            timeout=httpx.Timeout(self._timeout, connect=patience),
            extensions={"sni_hostname": host},
        )
        response = await self._http.send(request, stream=True)  # the status is enough: the body is not read
        await response.aclose()
        if response.is_success:
            return Outcome(response.status_code)
        said = "redirects are not followed" if response.is_redirect else "expected a 2xx status"
        return Outcome(response.status_code, f"status {response.status_code}: {said}")

    async def close(self) -> None:
        await self._http.aclose()


def sign(body: bytes, secret: str) -> str:
    """Return HMAC-SHA256 over the raw body, as hex."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


async def resolve(host: str, port: int, *, public_only: bool) -> list[str]:
    """Return the addresses of a host.

    Raises InvalidInput if one is not public but must be, OSError if there is none.
    """
    if public_only and "%" in host:  # an address with a zone belongs to this machine's network, even if nothing answers
        raise _not_public(host)
    try:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise InvalidInput(f"'{shorten(host)}' is not a host name") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in resolved))
    if public_only:
        for address in addresses:
            if not is_public(address):
                raise _not_public(host)
    return addresses


def _not_public(host: str) -> InvalidInput:
    return InvalidInput(f"Webhook host '{shorten(host)}' is at a private or local address, which is refused")


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet: also looks into IPv6 forms that carry an IPv4 address."""
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        carried = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None) or _nat64(ip)
        if carried is not None:
            return is_public(str(carried))
        if ip not in _PUBLIC_IPV6:
            return False
    return ip.is_global and not ip.is_multicast


def _nat64(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80
