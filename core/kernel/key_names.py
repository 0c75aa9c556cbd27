"""Names of files and folders that hold keys or passwords, each with what stands there."""

from __future__ import annotations

import re
import unicodedata
from fnmatch import translate
from functools import cache, lru_cache

from core.kernel.patterns import late

KEY_FOLDERS = {
    ".ssh": "keys of SSH",
    ".gnupg": "keys of GnuPG",
    ".aws": "keys of Amazon",
    ".azure": "tokens of Azure",
    ".kube": "keys of Kubernetes",
    ".docker": "passwords of registries",
    ".password-store": "passwords of pass",
}
"""Folders of keys and passwords, at any depth, with what stands there."""

KEY_NAMES = {
    **dict.fromkeys((".env*", "*.env", ".dev.vars*"), "variables of a program, passwords among them"),
    **dict.fromkeys((".netrc", "_netrc", ".authinfo*", ".git-credentials"), "passwords of hosts"),
    **dict.fromkeys((".pgpass", ".my.cnf", ".mylogin.cnf"), "passwords of databases"),
    **dict.fromkeys((".npmrc", ".pypirc", ".dockercfg", ".yarnrc.yml"), "tokens of registries"),
    **dict.fromkeys((".htpasswd", ".htdigest"), "hashes of passwords"),
    **dict.fromkeys(("credentials", "credentials.*", ".credentials*"), "credentials by its name"),
    **dict.fromkeys(
        (f"{name}.{end}" for name in ("secret", "secrets", ".secret", ".secrets", "*[._-]secret", "*[._-]secrets")
         for end in ("yml", "yaml", "json", "toml", "ini", "txt", "properties", "conf", "cfg", "xml", "tfvars")),
        "secrets by its name",
    ),
    **dict.fromkeys((".secret", ".secrets", "secrets", "passwords.*", "passwd.*"), "secrets by its name"),
    **dict.fromkeys(
        ("service-account*.json", "service_account*.json", "serviceaccount*.json", "*-service-account.json",
         "*_service_account.json", "client_secret*.json", "application_default_credentials.json", "*firebase-adminsdk*.json"),
        "a key of Google",
    ),
    **dict.fromkeys(("kubeconfig*", "*.kubeconfig", "kube.config"), "keys of Kubernetes"),
    **dict.fromkeys((".mcp.json", "mcp.json", "mcp_config.json"), "servers with the variables that they get, keys among them"),
    **dict.fromkeys(("*.ovpn", "wg[0-9]*.conf"), "the key of a private network"),
    **dict.fromkeys((".vault-token", ".vault_pass*", "vault_pass*", ".vault-pass*"), "the password of a vault"),
    **dict.fromkeys((".s3cfg", ".boto", "rclone.conf", ".rclone.conf"), "keys of a store of files"),
    **dict.fromkeys((".terraformrc", "terraform.rc", "*.tfstate*", "*.tfvars*"), "what Terraform knows, passwords among it"),
    "*.token": "a token by its name",
    **dict.fromkeys(("*.secret", "*.secrets", "*.password"), "secrets by its name"),
    **dict.fromkeys(("talosconfig", "wpa_supplicant*.conf", "*.nmconnection"), "keys of a network or a cluster"),
    **dict.fromkeys(("*recovery*code*", "*backup*code*", "*seed*phrase*"), "codes that open an account by their name"),
    **dict.fromkeys(("utc--*", "keystore.json", "wallet.json", "wallet.dat"), "a wallet"),
    "local.settings.json": "settings of Azure with their keys",
    **dict.fromkeys(("cookies.txt", "cookies.json", "cookies.sqlite", "logins.json", "key[34].db"), "a browser's cookies or passwords"),
    **dict.fromkeys(("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.ppk"), "a key of SSH"),
    **dict.fromkeys(("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore"), "a key or certificate"),
    **dict.fromkeys(("*.kdbx", "*.kdb", "*.agekey", "secring.*"), "a store of keys"),
}  # fmt: skip
"""Names of files of keys, with what stands in one. A name alone is asked about: nobody need look into it."""
_SAMPLES = frozenset({".env.example", ".env.sample", ".env.template", ".env.dist"})

_IGNORED = late("[\u00ad\u034f\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
"""Characters that a file system may leave out when it compares names."""
_SHORT_GIT = late(r"git~[0-9]+")

IN_FOLDER = "It is in a folder of keys and passwords."
BY_NAME = "Files of that name hold keys and passwords."


@lru_cache(maxsize=4_096)
def folded(name: str) -> str:
    """A name as a file system that minds neither case nor form compares it: `.GIT`, `git~1` and `.git ` are `.git`."""
    plain = unicodedata.normalize("NFKC", _IGNORED.sub("", name.split(":", 1)[0] or name)).casefold()
    plain = plain.rstrip(" .") or plain
    return ".git" if _SHORT_GIT.fullmatch(plain) else plain


def name_reasons(relative: str) -> tuple[str, ...]:
    """Reasons to take a file for one of keys by its name and its folders alone, a sentence each.

    Args:
        relative: path below a folder that is read, links resolved, with `/`.
    """
    *folders, name = map(folded, relative.split("/"))
    if any(each in KEY_FOLDERS for each in folders):
        return (IN_FOLDER,)
    return (BY_NAME,) if is_key_name(name) else ()


def is_key_name(name: str) -> bool:
    """True for the folded name of a file of keys."""
    return name not in _SAMPLES and _any_name().match(name) is not None


@cache
def _any_name() -> re.Pattern[str]:
    """All patterns of `KEY_NAMES` in one, made with the first question: a window begins without one."""
    return re.compile("|".join(map(translate, KEY_NAMES)))
