"""A worker as a process of its own, to be killed. `HOLD_RENDERING=file`: phase 5 waits while that file exists.
`READY=file`: made once signals are handled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

from trigpoint.config import load_settings
from trigpoint.jobs.worker import run_worker
from trigpoint.logs import configure_logging
from trigpoint.review import pipeline


def hold_rendering(while_exists: Path) -> None:
    render = pipeline.render_markdown

    def held(result: Any) -> str:
        while_exists.with_suffix(".entered").touch()
        while while_exists.exists():
            time.sleep(0.02)
        return render(result)

    pipeline.render_markdown = held


async def main() -> None:
    settings = load_settings()
    configure_logging(settings)
    if "HOLD_RENDERING" in os.environ:
        hold_rendering(Path(os.environ["HOLD_RENDERING"]))
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    if "READY" in os.environ:
        Path(os.environ["READY"]).touch()  # noqa: ASYNC240
    await run_worker(settings, stop)


if __name__ == "__main__":
    asyncio.run(main())
