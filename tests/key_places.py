"""Places of keys for tests: in a home, and in a project under names of all kinds. Each value is made when a test runs."""

from __future__ import annotations

import secrets
import string
from pathlib import Path

HOME_PLACES = [
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".config/fish/config.fish",
    ".config/fish/fish_variables",
    ".xsessionrc",
    ".envrc",
    ".env",
    ".env.local",
    ".secrets",
    "secrets.txt",
    "passwords.txt",
    "notes/wifi.md",
    "Documents/accounts.csv",
    "Documents/recovery-codes.txt",
    "Desktop/keys.txt",
    "Downloads/service-account.json",
    "other/.env",
    "other/.env.production",
    "other/config/secrets.yml",
    "other/.git/config",
    "other/.npmrc",
    "other/deploy.sh",
    "other/terraform.tfstate",
    "work/api/.dev.vars",
    "work/api/appsettings.json",
    "work/infra/kubeconfig",
    ".aws/credentials",
    ".aws/sso/cache/token.json",
    ".azure/accessTokens.json",
    ".config/gcloud/credentials.db",
    ".config/gcloud/application_default_credentials.json",
    ".kube/config",
    ".docker/config.json",
    ".ssh/id_ed25519",
    ".ssh/config",
    ".gnupg/private-keys-v1.d/key.key",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".config/hub",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".config/uv/credentials.toml",
    ".local/share/uv/credentials/credentials.toml",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".ivy2/.credentials",
    ".sbt/1.0/credentials.sbt",
    ".nuget/NuGet/NuGet.Config",
    ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
    ".pub-cache/credentials.json",
    ".hex/hex.config",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".psqlrc",
    ".mongorc.js",
    ".rediscli_auth",
    ".boto",
    ".s3cfg",
    ".config/rclone/rclone.conf",
    ".config/doctl/config.yaml",
    ".fly/config.yml",
    ".config/netlify/config.json",
    ".vercel/auth.json",
    ".local/share/com.vercel.cli/auth.json",
    ".railway/config.json",
    ".config/heroku/token",
    ".config/stripe/config.toml",
    ".config/ngrok/ngrok.yml",
    ".cloudflared/cert.pem",
    ".wrangler/config/default.toml",
    ".config/op/config",
    ".password-store/mail.gpg",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/p.default/logins.json",
    ".mozilla/firefox/p.default/cookies.sqlite",
    ".config/chromium/Default/Cookies",
    ".config/google-chrome/Default/Login_Data",
    ".thunderbird/p/key4.db",
    ".config/Slack/storage.json",
    ".config/discord/Local_Storage.log",
    ".config/Code/User/settings.json",
    ".config/JetBrains/IntelliJ/options/security.xml",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/openai/key",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".kaggle/kaggle.json",
    ".jupyter/jupyter_server_config.json",
    ".ipython/profile_default/history.sqlite",
    ".bash_history",
    ".python_history",
    ".node_repl_history",
    ".rye/credentials",
    ".conda/.condarc",
    ".continuum/anaconda-client/token",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".config/mise/config.toml",
    ".nvm/versions/node/v20.1.0/etc/npmrc",
    ".local/bin/deploy",
    ".local/bin/.env",
    ".pyenv/plugins/deploy/.env",
    ".bun/install/global/.npmrc",
    "go/pkg/mod/cache/.netrc",
    ".sdkman/etc/credentials",
    ".config/systemd/user/app.service",
    ".config/autostart/app.desktop",
]
"""Places in a person's own folder in which programs and people keep keys."""


def token(chars: int = 40) -> str:
    """A value that looks like a key and opens nothing."""
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(chars))


def fill_home(home: Path) -> tuple[str, ...]:
    """Make the places. Returns the values that stand in them."""
    values = []
    for number, name in enumerate(HOME_PLACES):
        value = f"ghp_{token(36)}"
        values.append(value)
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        form = ("export GITHUB_TOKEN={}\n", '{{"token": "{}"}}\n', "password = {}\n", "{}\n")[number % 4]
        place.write_text(form.format(value))
    return tuple(values)


def key_files() -> dict[str, tuple[str, str]]:
    """Files of keys in a project by name, each with what stands in it and the value that nobody may read."""
    found: dict[str, tuple[str, str]] = {}

    def add(name: str, form: str, prefix: str = "", chars: int = 40) -> None:
        value = f"{prefix}{token(chars)}"
        found[name] = form.replace("@", value), value

    lines = "-----BEGIN {} KEY-----\n@\n-----END {} KEY-----\n".replace("{}", "PRIVATE")
    for name in (".env", ".env.production", "prod.env", "config/app.env", ".dev.vars", ".envrc"):
        add(name, "NAME=plain\nVALUE=@\n")
    for name in (
        "secrets.yml",
        "config/secrets.yaml",
        "app-secrets.json",
        "secrets.toml",
        ".secrets",
        "secret.properties",
    ):
        add(name, "word: @\n")
    for name in (
        "service-account.json",
        "prod-service-account.json",
        "client_secret_1.json",
        "kubeconfig",
        "dev.kubeconfig",
    ):
        add(name, '{"word": "@"}\n')
    for name in (".mcp.json", "office.ovpn", ".vault_pass", "wg0.conf", ".netrc", ".npmrc", ".pypirc", ".htpasswd", ".pgpass",
                 "credentials", "credentials.json", "terraform.tfstate", "prod.tfvars", "id_ed25519", "deploy.key", ".s3cfg",
                 ".aws/credentials", ".kube/config"):  # fmt: skip
        add(name, "word @\n")
    for name in ("config.yml", "settings.json", "notes.txt", "Dockerfile", "docker-compose.yml", "setup.cfg", "wsgi.ini", "data.xml",
                 "app.properties", "pip.conf", "ci/pipeline.yaml"):  # fmt: skip
        add(name, "name: app\ntoken: @\n", "ghp_", 36)
    add("server.crt.txt", lines, "MII", 200)
    add("conf/local.conf", "stripe = @\n", "sk_live_", 30)
    add("tools/settings.py", 'NAME = "app"\nTOKEN = "@"\n', "ghp_", 36)
    add("deploy.sh", "#!/bin/sh\nexport GITHUB_TOKEN=@\n./run\n", "ghp_", 36)
    add("request.http", "GET /x\nAuthorization: Bearer @\n", "ghp_", 36)
    for name in ("token", "deploy/api_key.txt", "db_password", "deploy/prod.secret", "db.password"):
        add(name, "@\n")
    add("wpa_supplicant.conf", 'network={\n  psk="@"\n}\n')
    add("README.local", "token @\n", "ghp_", 36)
    return found


def fill_project(root: Path) -> dict[str, str]:
    """Make the files of keys in a project, and hard links to one of them. Returns the values by name."""
    values = {}
    for name, (text, value) in key_files().items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        values[name] = value
    for name in ("same.txt", "src/same.py"):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.hardlink_to(root / ".env")
        values[name] = values[".env"]
    return values
