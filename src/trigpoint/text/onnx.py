"""The only import of ONNX Runtime, which is kept from reporting to its makers."""

from __future__ import annotations

import os
from functools import cache
from typing import Any


@cache
def onnx_runtime() -> Any:
    """Return onnxruntime, imported on first use.

    Its official builds send events about models and sessions to Microsoft, with an id of the machine that they keep in the
    user's cache, unless this variable is set before the import; the function that switches it off comes too late.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime
