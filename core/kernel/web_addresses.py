"""Addresses of the web: which may be fetched, and which machines are never reached."""

from __future__ import annotations

import ipaddress
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late

MAX_CHARS = 4_000
_LABEL = late(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_ZERO_V6 = ipaddress.ip_network("::/96")
_OWN_NAMES = ("localhost", "local", "internal", "home.arpa", "lan", "intranet", "onion")
_SAFE = "/:?#[]@!$&'()*+,;=%-._~"


class WebAddress(msgspec.Struct, frozen=True):
    """An address that may be fetched if its host is a machine of the open net.

    Args:
        scheme: `http` or `https`; host: lower case, ASCII, without brackets; target: path and query.
        problem: why it may not be, a sentence; empty where it may.
    """

    scheme: str = ""
    host: str = ""
    port: int = 0
    target: str = ""
    problem: str = ""

    @property
    def authority(self) -> str:
        """Host and port as the `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _default_port(self.scheme) else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address, whole."""
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_address(url: str) -> WebAddress:
    """Take an address apart. Raises nothing. Names are not resolved: a name that is asked for tells its owner something."""
    if len(url) > MAX_CHARS or any(ord(char) < 33 or ord(char) == 127 for char in url):
        return WebAddress(problem=tr("The address is too long, or holds spaces or control characters."))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return WebAddress(problem=tr("This is not an address: {error}.", error=error))
    if parts.scheme not in {"http", "https"}:
        return WebAddress(
            problem=tr("The program fetches only addresses that begin with http:// or https://.")
        )
    if parts.username is not None or parts.password is not None:
        return WebAddress(problem=tr("The program does not fetch addresses with a user name or password."))
    host = _ascii_host(host)
    port = port if port is not None else _default_port(parts.scheme)
    problem = _host_problem(host) or _port_problem(port)
    target = quote(parts.path or "/", safe=_SAFE) + (
        f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    )
    return WebAddress(scheme=parts.scheme, host=host, port=port, target=target, problem=problem)


def redirected(address: WebAddress, location: str) -> WebAddress:
    """The address that an answer leads to, judged like any."""
    try:
        return parse_address(urljoin(address.url, location))
    except ValueError as error:
        return WebAddress(problem=tr("The page redirects to an invalid address: {error}.", error=error))


def is_same_place(address: WebAddress, other: WebAddress) -> bool:
    """True if a redirect stays with the host that was allowed, and on a connection at least as safe."""
    is_safer = other.scheme in {address.scheme, "https"}
    is_port_kept = other.port in {address.port, _default_port(other.scheme)}
    return address.host == other.host and is_safer and is_port_kept


def is_public(ip: str) -> bool:
    """True if an IP address is of the open net: neither this machine, nor a network around it, nor a group.

    An IPv4 address inside an IPv6 one counts as what it is.
    """
    try:
        address = ipaddress.ip_address(ip.split("%", 1)[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        if inner is None and any(address in net for net in (*_NAT64, _ZERO_V6)):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return address.is_global and not address.is_multicast and not address.is_reserved


def _host_problem(host: str) -> str:
    if not host:
        return tr("The address names no host.")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        labels = host.split(".")
        if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
            return tr("The host name holds characters that no host name may have.")
        if any(host == name or host.endswith(f".{name}") for name in _OWN_NAMES) or len(labels) == 1:
            return tr(
                "{host} is a name of this machine or its network; the program never fetches from there.",
                host=host,
            )
        return ""
    return (
        ""
        if is_public(host)
        else tr("{host} is not a public address; the program never fetches from there.", host=host)
    )


def _port_problem(port: int) -> str:
    """Ports of other protocols: a request could be words that their servers obey."""
    return "" if port in {80, 443} or port >= 1024 else tr("Port {port} is not a web port.", port=port)


def _ascii_host(host: str) -> str:
    host = host.rstrip(".").lower().split("%", 1)[0]
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return "?"


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


# Addresses of this machine, told apart from all others.


def is_loopback(url: str) -> bool:
    """True if a URL stays on this machine. An empty or broken URL does not."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
