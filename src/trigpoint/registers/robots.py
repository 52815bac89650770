"""A register's robots.txt, for requests that no person has asked for at this moment."""

from __future__ import annotations

from urllib.robotparser import RobotFileParser

import httpx

from trigpoint.errors import RobotsRefuse
from trigpoint.registers.site import Site


async def require_allowed(site: Site, url: httpx.URL) -> None:
    """Raise RobotsRefuse if the register's robots.txt asks programs not to fetch an address. Sends one request."""
    page = await site.page(site.base.copy_with(path="/robots.txt", query=None))
    if page.missing:
        return
    rules = RobotFileParser()
    rules.parse(page.text.splitlines())
    if not rules.can_fetch(site.user_agent, str(url)):
        raise RobotsRefuse(
            f"The register at {site.base.host} asks programs to stay away from its lists (robots.txt), so Trigpoint does "
            f"not fetch them. Open {url} in a browser, and review the applications that interest you by their reference"
        )
