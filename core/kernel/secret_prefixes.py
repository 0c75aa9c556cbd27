"""Keys whose makers gave them a beginning of their own, and addresses that carry one: a table of each.

Sources: the makers' pages (Cloudflare "Token formats", Google AI Studio "API keys", Stripe "API keys", Heroku "Authorization
tokens") and the public rule sets of Betterleaks, Gitleaks and Kingfisher, read 2026-11-29; their regular expressions are not
copied. Older vendors: `core.kernel.secret_shapes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core.kernel.secret_shapes import shape
from core.kernel.secret_values import (
    Find,
    Rule,
    compiled,
    is_filled_in,
    is_mixed,
    is_no_name,
    is_placeholder,
    is_random,
)

_URL, _ANY = "[A-Za-z0-9_-]", "[A-Za-z0-9]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_APART = r"(?<![A-Za-z0-9_-])"
"""Before a beginning that ends in a hyphen, or is short: words are joined with hyphens, too."""


def _is_scattered(tail: str) -> bool:
    """True if upper, lower and digits go together as in no name. For a beginning that names have as well."""
    return is_filled_in(tail) and is_no_name(tail)


def _is_two(tail: str) -> bool:
    return is_filled_in(tail) and is_mixed(tail)


_MODELS = (
    shape("AQ.", f"{_URL}{{40,}}", check=_is_scattered),
    shape("hf_oauth_", f"{_URL}{{20,}}(?:\\.{_URL}{{8,}}){{0,2}}", check=_is_scattered),
    shape(
        "xai-",
        f"{_URL}{{40,}}|{_ANY}{{20,}}",
        check=lambda tail: _is_two(tail) or (tail.isalnum() and is_filled_in(tail)),
    ),
    shape("xai-token-", f"{_URL}{{40,}}", check=_is_two),
    shape("tgp_v1_", f"{_URL}{{40,}}", check=_is_two),
    shape("fw_", rf"{_ANY}{{20,}}\b", check=_is_scattered),
    shape("jina_", f"{_ANY}{{40,}}", check=_is_two),
    shape("e2b_", r"[0-9a-f]{40,}\b"),
    shape("pa-", f"{_URL}{{40,}}", after=_APART, check=_is_scattered),
    shape("ak- as-", rf"{_ANY}{{22}}\b", after=_APART, check=_is_scattered),
    shape("llx-", f"{_ANY}{{40,}}", after=_APART, check=_is_two),
    shape("fc-", r"[0-9a-f]{32}\b", after=_APART),
    shape("bb_live_ bb_test_", f"{_URL}{{20,}}", check=_is_scattered),
    shape("BSA", f"{_URL}{{24,40}}(?![A-Za-z0-9+/_-])", after=r"(?<![A-Za-z0-9+/_-])", check=_is_scattered),
    shape("apify_api_", f"{_ANY}{{30,}}"),
    shape("dtn_", r"[0-9a-f]{64}\b"),
    shape("ctx7sk-", f"{_UUID}|{_ANY}{{32,}}"),
    shape("m0-", rf"{_ANY}{{36,}}\b", after=_APART, check=_is_scattered),
    shape("key_ crsr_", rf"[0-9a-f]{{64}}\b|{_ANY}{{21,24}}\b", check=_is_two),
    shape("sk_car_", rf"{_ANY}{{21,24}}\b"),
    shape("sess-", rf"{_ANY}{{40}}\b", after=_APART, check=_is_two),
    shape("ste-", rf"{_ANY}{{60,}}\b", after=_APART, check=_is_two),
    shape("ak_", rf"{_ANY}{{20}}\b", check=_is_scattered),
    shape("am_", r"[0-9a-f]{64}\b"),
    shape("sk_", rf"{_ANY}{{40,64}}\b", check=_is_two),
    shape("secret_", rf"{_ANY}{{20,}}\.{_ANY}{{20,}}", check=_is_two),
    shape("apk_ apk_user_", r"[A-Za-z0-9+/]{80,}={0,2}", check=_is_two),
    shape("cog_", r"[a-z2-7]{52}\b", check=_is_two),
    shape("sgamp_user_", r"[0-9A-Z]{26}_[0-9a-f]{64}\b"),
    shape("wandb_v1_", "[A-Za-z0-9_]{60,}", check=_is_two),
)
"""Makers of models, and of what agents use."""

_PLACES = (
    shape("cfut_ cfat_ cfk_", f"{_ANY}{{40,}}"),
    shape("vercel_blob_rw_", rf"{_ANY}{{8,}}_{_ANY}{{20,}}"),
    shape("vcp_ vca_ vci_ vcr_ vck_", f"{_URL}{{50,}}|{_ANY}{{24,}}", check=_is_two),
    shape("re_", rf"{_ANY}{{8}}_{_ANY}{{20,28}}\b", check=_is_scattered),
    shape("sk_org_live_ sk_org_test_ rk_org_live_ rk_org_test_", f"{_ANY}{{30,}}"),
    shape("HRKU-AA", f"{_URL}{{40,}}", check=_is_two),
    shape("tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_", f"{_ANY}{{20,}}", check=_is_scattered),
    shape("signkey-prod- signkey-test- signkey-branch-", r"[0-9a-f]{32,}\b"),
    shape("polar_at_ polar_oat_ polar_pat_ polar_whs_", f"{_URL}{{20,}}", check=_is_scattered),
    shape("pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", r"\w{30,}", check=_is_two),
    shape("mlsn.", f"{_ANY}{{30,}}", check=_is_two),
    shape("sbp_", r"(?:v0_)?[0-9a-f]{40}\b|[a-z0-9]{40}\b", check=_is_two),
    shape("mdb_sa_sk_", f"{_URL}{{40}}", check=_is_two),
    shape("CCDB1_", rf"{_ANY}{{22}}_{_ANY}{{40}}\b"),
    shape("AstraCS:", f"{_ANY}{{20,}}(?::[0-9a-f]{{64}})?", check=_is_two),
    shape("4b1d", rf"{_ANY}{{38}}\b", check=_is_scattered),
    shape("ddp_ ddw_", rf"{_ANY}{{36}}\b"),
    shape("vtwn_ unkey_", f"{_ANY}{{20,}}", check=_is_scattered),
    shape("essu_", f"{_URL}{{60,}}={{0,2}}", check=_is_two),
    shape("ucat_", rf"{_ANY}{{24,32}}\b", check=_is_two),
    shape("EXO", r"[0-9a-f]{24}\b", check=_is_two),
    shape("zpka_", r"[a-z0-9]{32}_[0-9a-f]{8}\b"),
    shape("os_v2_app_ os_v2_org_", r"[a-z2-7]{103}\b"),
    shape("bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_", f"{_URL}{{50,}}", check=_is_two),
    shape("rootly_ slk_", r"[0-9a-f]{64}\b"),
    shape("csa_", r"[0-9a-f]{30}[A-Za-z0-9]{6}\b", check=_is_two),
    shape("AIK_SECRET_ AIK_CI_ AIK_CLIENT_", f"{_ANY}{{20,}}", check=_is_two),
    shape("snyk_uat. snyk_sat.", rf"[0-9a-f]{{8}}\.{_URL}{{20,}}(?:\.{_URL}{{20,}})?"),
    shape("hawk.", rf"{_URL}{{20}}\.{_URL}{{20}}(?!{_URL})", check=_is_two),
    shape("pat. sat.", rf"{_URL}{{22}}\.[0-9A-Za-z]{{24}}\.{_ANY}{{20}}\b", check=_is_two),
    shape("pat", rf"{_ANY}{{14}}\.[0-9a-f]{{64}}\b"),
    shape("pk_", r"[0-9]{7,9}_[0-9A-Z]{32}\b"),
    shape("aio_", rf"{_ANY}{{28}}\b", check=_is_scattered),
    shape("00D", rf"{_ANY}{{12,15}}![A-Za-z0-9._-]{{80,}}", check=_is_two),
    shape("xoxc-", r"\d{9,15}-\d{9,15}-\d{9,15}-[a-f0-9]{40,}"),
    shape("xoxd-", r"[A-Za-z0-9%/+-]{60,}={0,2}"),
    shape("glsa_", rf"{_ANY}{{32}}_[0-9a-fA-F]{{8}}\b"),
    shape("ghs_ ghu_", rf"(?:\d+_)?eyJ{_URL}{{8,}}\.{_URL}{{8,}}\.{_URL}{{8,}}"),
    shape("sgp_", rf"{_ANY}{{64}}\b", check=_is_two),
    shape("dp.st.", rf"[a-z0-9_-]{{2,35}}\.{_ANY}{{40,}}"),
    shape("1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    shape("$aact_", f"(?:prod|hmlg)_{_URL}{{40,}}", after=""),
    shape("SWMKEY-1-", "[A-Za-z0-9+/]{40,}"),
    shape("figu_ figo_ figoh_ figor_", f"{_URL}{{38,}}", check=_is_two),
    shape("cflt", r"[A-Za-z0-9+/]{60,80}(?![A-Za-z0-9+/])", check=_is_two),
    shape("cio", rf"{_ANY}{{32}}\b", check=_is_scattered),
    shape("sdk- mob- api-", _UUID, after=_APART),
    shape("ory_pat_ ory_at_ ory_rt_ ory_st_ ory_apikey_ ory_wak_", f"{_URL}{{30,}}", check=_is_two),
    shape("rdme_", r"[A-Za-z0-9]{60,}\b", check=_is_two),
    shape("secret-live- secret-test-", f"{_URL}{{30,}}=?", after=_APART, check=_is_two),
    shape("live_ test_", r"(?:pub_)?[0-9a-f]{31,35}\b", check=_is_two),
    shape("st.", r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    shape("prod: dev: preview:", rf"[\w:-]{{3,120}}\|{_ANY}{{60,}}={{0,2}}", check=_is_two),
)
"""Makers of all else, and later forms of tokens that `secret_shapes` has the older ones of."""


def _part(literals: str, lead: str, key: str, check: Callable[[str], bool] = is_mixed) -> Rule:
    """A rule for a key that stands in the path of an address, behind a host that gives keys there.

    Args:
        literals: of the host, with blanks between; lead: the expression between it and the key.
    """

    def look(text: str, at: int) -> Find | None:
        found = compiled(f"{lead}({key})").match(text, compiled(r"[\w.-]+").match(text, at).end())  # type: ignore[union-attr]
        if found is None or is_placeholder(found[1]) or not check(found[1]):
            return None
        return Find(start=found.start(1), end=found.end(1))

    return Rule(literals=tuple(literals.split()), look=look, kind="key in an address")


_PATHS = (
    _part("maker.ifttt.com", r"/trigger/[\w%-]{1,100}/(?:json/)?with/key/", f"{_URL}{{20,}}"),
    _part("hook.eu1.make.com hook.eu2.make.com hook.us1.make.com hook.us2.make.com hook.integromat.com", "/", r"[a-z0-9]{32}\b"),
    _part("mcp.zapier.com", "/api/mcp/s/", f"{_URL}{{40,}}={{0,2}}"),
    _part("infura.io", "(?:/ws)?/v3/", r"[0-9a-f]{32}\b"),
    _part("alchemy.com alchemyapi.io", "/(?:nft/)?v[23]/", rf"{_URL}{{32,}}(?!{_URL})"),
    _part("quiknode.pro", "/", r"[0-9a-f]{40}\b"),
    _part("calendar.google.com", r"/calendar/ical/[\w%.@+-]{1,200}/private-", r"[0-9a-f]{32}\b"),
)  # fmt: skip
"""Hosts by which an address carries its key in its path."""

_QUERY = re.compile(r"(?:key|auth|code)=([A-Za-z0-9%._~+/-]{20,2000}={0,2})", re.IGNORECASE | re.ASCII)
_NAME_BEFORE = re.compile(r"[?&;][\w.-]{0,30}\Z", re.ASCII)
_KEY_OF_BYTES = re.compile(rf"[0-9a-f]{{32,}}|{_UUID}", re.IGNORECASE)
_LEAST_CODE_CHARS = 40
"""Of a value that is called a code: shorter ones are of countries, languages and errors."""


def _query(text: str, at: int) -> Find | None:
    """The value of a parameter of an address that is called a key: letters and digits as in no name, or bytes."""
    found = _QUERY.match(text, at)
    if found is None or not _NAME_BEFORE.search(text, max(0, at - 32), at) or is_placeholder(found[1]):
        return None
    value, is_code = found[1], found[0][:4].lower() == "code"
    if is_code and len(value) < _LEAST_CODE_CHARS:
        return None
    is_key = _KEY_OF_BYTES.fullmatch(value) is not None and not is_code
    return (
        Find(start=found.start(1), end=found.end(1))
        if is_key or (is_no_name(value[:64]) and is_random(value[:64]))
        else None
    )


RULES = (
    *_MODELS,
    *_PLACES,
    *_PATHS,
    Rule(literals=("key=", "auth=", "code="), look=_query, kind="key in an address"),
)
"""Keys by their beginning, and those of addresses."""
