"""Addresses: nothing of this machine or the network around it is reached, however it is written."""

from __future__ import annotations

import pytest

from core.kernel.web_addresses import is_public, is_same_place, parse_address, redirected


@pytest.mark.parametrize(
    "ip",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
        *("2002:7f00:1::", "2002:c0a8:101::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "nonsense", ""),
    ],
)
def test_own_addresses_are_not_public(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize(
    "ip", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_addresses_of_the_open_net_are(ip: str) -> None:
    assert is_public(ip)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "file:///etc/passwd",
            "ftp://example.org/",
            "javascript:alert(1)",
            "//example.org",
            "example.org",
            "",
        ),
        *(
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost:8080/",
            "http://127.0.0.1/",
            "http://[::1]/",
        ),
        *(
            "http://router.local/",
            "http://metadata.google.internal/",
            "http://intranet/",
            "http://2130706433/",
        ),
        *("http://user:key@example.org/", "http://example.org\\@localhost/", "http://exa mple.org/"),
        *(
            "http://example.org:99999/",
            "http://example.org:25/",
            "http://example.org:0/",
            "http://[::1",
            "http:///x",
        ),
        *(
            "http://example.org/\r\nHost: x",
            "http://-a.example/",
            "http://a..example/",
            "http://*.example.org/",
        ),
        *("http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]/", "http://" + "a" * 5_000),
    ],
)
def test_what_is_never_fetched_is_refused_before_a_name_is_asked_for(url: str) -> None:
    assert parse_address(url).problem


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://Example.ORG", "https://example.org/"),
        (
            "http://example.org:8080/a b".replace(" ", "%20") + "?q=ä#part",
            "http://example.org:8080/a%20b?q=%C3%A4",
        ),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://[2606:4700::1111]:443/x", "https://[2606:4700::1111]/x"),
    ],
)
def test_an_address_is_shown_as_it_is_asked_for(url: str, shown: str) -> None:
    address = parse_address(url)

    assert address.problem == ""
    assert address.url == shown
    assert parse_address(shown) == address


def test_a_redirect_stays_with_its_host_and_its_safety() -> None:
    start = parse_address("https://example.org/a/b")

    assert redirected(start, "c?d").url == "https://example.org/a/c?d"
    assert is_same_place(start, redirected(start, "/x"))
    assert is_same_place(parse_address("http://example.org/"), start)
    for location in (
        "http://example.org/",
        "https://evil.example/",
        "https://example.org:8443/",
        "//x.example.org/",
    ):
        assert not is_same_place(start, redirected(start, location))
    for location in ("http://127.0.0.1/", "file:///etc/passwd", "//[::1/"):
        assert redirected(start, location).problem
