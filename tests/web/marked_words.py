"""Whether the picture of a page shows words marked."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect


def marked_pixels(picture: Locator) -> int:
    return int(
        picture.evaluate(
            """image => { const c = document.createElement('canvas'); c.width = image.naturalWidth; c.height = image.naturalHeight;
            const d = c.getContext('2d'); d.drawImage(image, 0, 0); const p = d.getImageData(0, 0, c.width, c.height).data;
            let n = 0; for (let i = 0; i < p.length; i += 4) if (p[i] > 230 && p[i + 1] > 190 && p[i + 2] < 140) n++; return n; }"""
        )
    )


def expect_marked_page(picture: Locator) -> None:
    expect(picture).to_have_attribute("alt", re.compile("highlighted"))
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 500
    assert marked_pixels(picture) > 500
