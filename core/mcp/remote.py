"""Addresses of MCP servers over HTTP: which may be asked, and with a key. Pure."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from core.base.web_addresses import parse_address


def remote_problem(url: str, *, has_key: bool, may_reach_own: bool) -> str:
    """Reason why a server's address is not asked, a sentence without a full stop; empty where it may be.

    Args:
        has_key: a bearer goes with each request.
        may_reach_own: this machine and its network count as well, as for a server of the person's own settings.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return f"its url is no address ({error})"
    if parts.scheme not in {"http", "https"} or not host:
        return "its url does not begin with http:// or https:// and a host"
    if parts.username is not None or parts.password is not None:
        return "its url holds a user's name or password: name an entry of the keyring as its key"
    if not may_reach_own:
        problem = parse_address(url).problem
        if problem:
            return f"its url leads where a project's server may not be: {problem.rstrip('.')}"
    if has_key and parts.scheme == "http" and not is_own_machine(host):
        return "its url is not encrypted (http), where everybody on the way could read its key: use https"
    return ""


def is_own_machine(host: str) -> bool:
    """True for a name or address of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
