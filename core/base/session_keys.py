"""Keys of the person's session that the kernel holds: what this thread starts has none of them."""

from __future__ import annotations

import os
import sys

_KEYCTL = {
    "x86_64": 250, "aarch64": 219, "riscv64": 219, "loongarch64": 219, "ppc64le": 271, "s390x": 280,
}  # fmt: skip
"""Number of the call `keyctl`, of 64-bit systems. Source: the kernel's `syscall.tbl` (read 2026-11-24)."""
_JOIN = 1
"""KEYCTL_JOIN_SESSION_KEYRING of keyctl(2): without a name, a new one that is empty."""


def leave_session_keys() -> None:
    """Leave the keyring of the session, for this thread and all that it starts from now on.

    A namespace of users hides a user's own keyring, and not that of the session, where a login puts tickets and keys; who holds
    a keyring may read it. Without effect where the kernel has none. Linux alone.
    """
    number = _KEYCTL.get(os.uname().machine) if sys.maxsize > 1 << 32 else None
    if number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, _JOIN, None)
