"""The common ground of every HTTP surface: keys, body limits, host checks, request ids, the plain error envelope."""
