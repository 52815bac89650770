"""Recognises a page that asks for proof that a person is there. Such a page is never worked around."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HEADERS = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-datadome", "", "DataDome"),
)
_MARKS = (
    (re.compile(rb"/cdn-cgi/challenge-platform/|cf-chl-|<title>\s*Just a moment\.\.\.", re.IGNORECASE), "Cloudflare"),
    (re.compile(rb"_Incapsula_Resource|Incapsula incident ID", re.IGNORECASE), "Imperva"),
    (re.compile(rb"awswaf\.com/[^\"']*challenge\.js|AwsWafIntegration", re.IGNORECASE), "AWS WAF"),
    (re.compile(rb"captcha-delivery\.com", re.IGNORECASE), "DataDome"),
    (re.compile(rb"Barracuda[^<]{0,80}(?:challenge|verify)|/barracuda_challenge", re.IGNORECASE), "Barracuda"),
    (re.compile(rb"azure-waf-(?:js|captcha)|/\.azwaf/", re.IGNORECASE), "Azure WAF"),
    (re.compile(rb"class=[\"'][^\"']*\b(?:g-recaptcha|h-captcha|cf-turnstile)\b", re.IGNORECASE), "a captcha"),
)
_CONTENT = re.compile(rb"<table|searchCriteria", re.IGNORECASE)
LOOKED_AT = 64 * 1024


def challenge_by(headers: Mapping[str, str], body: bytes, *, success: bool) -> str | None:
    """Return who challenges the visitor, or None.

    Firewalls put their scripts on ordinary pages too: a page that succeeded and has a table or a search form is not a challenge.
    """
    for name, value, who in _HEADERS:
        if name in headers and value in headers[name].lower() and (value or not success):
            return who
    head = body[:LOOKED_AT]
    if success and (len(body) > LOOKED_AT or _CONTENT.search(head)):
        return None
    for pattern, who in _MARKS:
        if pattern.search(head):
            return who
    return None
