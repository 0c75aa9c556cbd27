"""Proof that whoever listens on a port is the program that left the token: both sides of it, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import secrets

NONCE_BYTES = 24
_PURPOSE = "manual-slop hello v1"


def new_nonce() -> str:
    """A fresh question: 192 bits, in hexadecimal digits."""
    return secrets.token_hex(NONCE_BYTES)


def proof_of(token: str, nonce: str, port: int, pid: int) -> str:
    """Answer to a question, which only a holder of the token can give.

    Port and process are the answerer's own: an answer that was fetched from a program on another port proves nothing.

    Args:
        nonce: as it was asked; port, pid: of the program that answers.

    Returns:
        HMAC-SHA256 under the token, 64 hexadecimal digits.
    """
    said = "\n".join((_PURPOSE, nonce, str(port), str(pid)))
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


def is_proof(given: object, token: str, nonce: str, port: int, pid: int) -> bool:
    """True if an answer is that of the program that holds the token, in constant time."""
    if not isinstance(given, str) or not given.isascii():
        return False
    return hmac.compare_digest(given, proof_of(token, nonce, port, pid))
