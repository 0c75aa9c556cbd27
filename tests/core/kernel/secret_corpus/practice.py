"""The corpus that the detectors were tuned on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from tests.core.kernel.secret_corpus.values import VENDORS, Make, Sample, Values, filled

_AROUND = (
    ("talk", "my key is {s}, please keep it out of the repository"),
    ("reply", "Sure! Put `{s}` into the settings and restart."),
    ("code", 'client = Client("{s}")'),
    ("log", "2026-11-20 12:00:01 WARN upstream said 401 for {s} (attempt 2)"),
    ("json", '{"name": "prod", "value": "{s}", "ttl": 3600}'),
    ("yaml", "env:\n  - name: UPSTREAM\n    value: {s}\n"),
    ("shell", "$ export UPSTREAM={s}"),
)

_KINDS: dict[str, tuple[Make, tuple[tuple[str, str], ...]]] = {
    "private key": (
        lambda v: v.pem(
            v.choice(["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"])
        ),
        (
            ("talk", "here is the file:\n{s}\nthanks"),
            ("code", 'KEY = """{s}"""'),
            ("yaml", "tls.key: |\n{s}\n"),
        ),
    ),
    "PGP block": (
        Values.pgp,
        (("talk", "my key:\n{s}\n"), ("reply", "```\n{s}\n```"), ("log", "gpg --export-secret-keys\n{s}")),
    ),
    "URL password": (
        lambda v: v.letters(14),
        (
            ("code", 'engine = create_engine("postgresql+psycopg://app:{s}@db.internal:5432/app")'),
            ("log", "connecting to amqp://worker:{s}@rabbit:5672/%2f"),
            ("shell", "git clone https://deploy:{s}@git.example.org/team/app.git"),
        ),
    ),
    "redis://:pw@": (
        lambda v: v.letters(16),
        (
            ("code", 'r = redis.from_url("redis://:{s}@cache.internal:6379/0")'),
            ("yaml", "broker_url: rediss://:{s}@cache:6380/1"),
            ("talk", "I connect with redis://:{s}@10.0.0.5:6379 and it hangs"),
            ("log", "ConnectionError: redis://:{s}@redis:6379/0 refused"),
        ),
    ),
    "URL password with @ or /": (
        Values.odd,
        (
            ("code", 'DSN = "mysql://root:{s}@127.0.0.1:3306/shop"'),
            ("yaml", "url: postgres://svc:{s}@db:5432/main"),
            ("shell", "psql postgresql://me:{s}@db.example.org/prod -c 'select 1'"),
            ("log", "dial mongodb+srv://admin:{s}@cluster0.example.net/test"),
        ),
    ),
    "Azure SAS": (
        lambda v: v.base64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        (
            ("talk", "https://acct.blob.core.windows.net/c/f.csv?sv=2023-11-03&sp=r&se=2027-01-01&sig={s}"),
            ("code", 'SAS = "?sv=2022-11-02&ss=b&srt=co&sp=rl&sig={s}"'),
            ("log", "GET /c/f?se=2026-12-01T00%3A00%3A00Z&sr=b&sp=r&sig={s}&sv=2023-01-03 200"),
            ("shell", "azcopy copy 'https://a.blob.core.windows.net/x?sp=r&sv=2022-11-02&sr=c&sig={s}' ."),
        ),
    ),
    "Azure client secret": (
        lambda v: f"{v.letters(3)}8Q~{v.url(34)}",
        (
            ("talk", "the client secret is {s} and it expires in June"),
            ("code", 'credential = ClientSecretCredential(tenant, client, "{s}")'),
            ("json", '{"appId": "x", "password": "{s}"}'),
            ("shell", "az login --service-principal -u app -p {s} --tenant t"),
        ),
    ),
    "Azure account key": (
        lambda v: v.base64(64),
        (
            ("code", 'c = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={s};EndpointSuffix=x"'),
            ("yaml", "conn: AccountName=a;AccountKey={s}"),
        ),
    ),
    "SECRET_KEY=": (
        lambda v: v.password(30),
        (
            ("code", "SECRET_KEY = '{s}'"),
            ("shell", "SECRET_KEY={s}"),
            ("yaml", "      SECRET_KEY: {s}"),
            ("json", '{"SECRET_KEY": "{s}"}'),
        ),
    ),
    "DB_PASS=": (
        lambda v: v.password(12),
        (
            ("shell", "DB_PASS={s}"),
            ("yaml", "  DB_PASS: {s}"),
            ("code", 'DB_PASS = "{s}"'),
            ("log", "env: DB_HOST=db DB_PASS={s} DB_PORT=5432"),
        ),
    ),
    "Pwd=": (
        lambda v: v.password(12),
        (
            ("code", 'conn = "Server=db;Database=x;Uid=sa;Pwd={s};"'),
            ("json", '{"ConnectionString": "Data Source=.;User ID=sa;Pwd={s}"}'),
            ("log", "open: Server=tcp:db,1433;Uid=app;Pwd={s};Encrypt=yes"),
        ),
    ),
    "ENCRYPTION_KEY=": (
        lambda v: v.base64(32),
        (
            ("shell", "export ENCRYPTION_KEY={s}"),
            ("yaml", 'ENCRYPTION_KEY: "{s}"'),
            ("code", "ENCRYPTION_KEY = b'{s}'"),
        ),
    ),
    "hex private key": (
        lambda v: v.hex(64),
        (
            ("shell", "PRIVATE_KEY=0x{s}"),
            ("code", 'wallet = new Wallet("0x{s}") // private key'),
            ("json", '{"private_key": "{s}"}'),
            ("talk", "my private key is {s}"),
        ),
    ),
    "escaped JSON": (
        lambda v: v.letters(22),
        (
            ("log", 'body="{\\"user\\":\\"a\\",\\"password\\":\\"{s}\\"}"'),
            ("json", '{"payload": "{\\"api_key\\": \\"{s}\\"}"}'),
            ("code", 'send("{\\"client_secret\\":\\"{s}\\",\\"id\\":1}")'),
            ("shell", 'curl -d "{\\"token\\":\\"{s}\\"}" https://example.org'),
        ),
    ),
    "curl -u": (
        lambda v: v.letters(16),
        (
            ("shell", "curl -u admin:{s} https://example.org/api"),
            ("shell", "curl -sS -X POST --user 'ci:{s}' https://example.org/build"),
            ("reply", 'Run `curl -fsSL -u "bot:{s}" https://example.org` once.'),
        ),
    ),
    "--password x": (
        lambda v: v.password(12),
        (
            ("shell", "docker login -u me --password {s} registry.example.org"),
            ("shell", "mysqldump --user=root --password={s} shop"),
            ("talk", "I ran tool sync --api-key {s} --dry-run"),
            ("log", "argv: ['tool', '--token', '{s}', '--verbose']"),
        ),
    ),
    "netrc": (
        lambda v: v.letters(12),
        (
            ("talk", "machine api.example.org login me password {s}"),
            ("shell", "$ cat ~/.netrc\nmachine git.example.org\n  login bot\n  password {s}\n"),
            ("reply", "machine example.org\nlogin ci\npassword {s}"),
        ),
    ),
    "docker auth": (
        Values.docker,
        (
            ("json", '{"auths": {"https://index.docker.io/v1/": {"auth": "{s}"}}}'),
            ("json", '{\n\t"auths": {\n\t\t"r.example.org": {\n\t\t\t"auth": "{s}"\n\t\t}\n\t}\n}'),
            ("yaml", '  .dockerconfigjson: {"auths":{"r":{"auth":"{s}"}}}'),
        ),
    ),
    "base64 of an env file": (
        Values.env,
        (
            ("talk", "I sent {s} as the secret"),
            ("yaml", "data:\n  .env: {s}\n"),
            ("shell", "echo {s} | base64 -d > .env"),
        ),
    ),
    "key over two lines": (
        lambda v: f"{v.letters(24)}\n{v.letters(24)}",
        (
            ("talk", "my key is sk-proj-{s} (it wrapped)"),
            ("shell", "export API_KEY={s}"),
            ("log", "token: ghp_{s}"),
        ),
    ),
    "assigned password": (
        lambda v: v.password(12),
        (
            ("talk", "password: {s}"),
            ("code", 'password = "{s}"'),
            ("yaml", "database:\n  user: app\n  password: {s}\n"),
            ("json", '{"user": "app", "password": "{s}"}'),
            ("code", 'connect(host="db", passwd="{s}")'),
        ),
    ),
    "assigned phrase": (
        Values.phrase,
        (("shell", "PASSPHRASE={s}"), ("yaml", "db_password: {s}"), ("code", "secret = '{s}'")),
    ),
    "assigned token": (
        lambda v: v.letters(32),
        (
            ("code", 'headers = {"X-Api-Key": "{s}"}'),
            ("shell", "export GITEA_TOKEN={s}"),
            ("json", '{"access_token": "{s}", "expires_in": 3600}'),
            ("log", "POST /login?user=a&token={s} 302"),
            ("yaml", "apiKey: {s}"),
        ),
    ),
    "bearer": (
        lambda v: v.letters(30),
        (
            ("log", "> Authorization: Bearer {s}"),
            ("code", 'req.headers["Authorization"] = "Bearer {s}"'),
            ("shell", "curl -H 'Authorization: Bearer {s}' https://example.org"),
        ),
    ),
    "basic": (
        Values.docker,
        (("log", "authorization: Basic {s}"), ("code", '{"Authorization": "Basic {s}"}')),
    ),
    "AWS secret": (
        lambda v: v.base64(30),
        (
            ("shell", "aws_secret_access_key = {s}"),
            ("talk", "AWS_SECRET_ACCESS_KEY={s}"),
            ("json", '{"SecretAccessKey": "{s}"}'),
        ),
    ),
}


def practice(seed: int = 8) -> Iterator[Sample]:
    """Secrets of every kind in every place, then look-alikes."""
    values = Values(seed)
    around = cycle(_AROUND)
    for kind, make in VENDORS.items():
        yield from filled(f"by shape: {kind}", (next(around), next(around)), make, values)
    for kind, (make, rows) in _KINDS.items():
        yield from filled(kind, rows, make, values)
    yield from look_alikes(values)


def look_alikes(v: Values) -> Iterator[Sample]:
    """Texts in which nothing is secret."""
    for kind, rows in _LOOK_ALIKES.items():
        for place, text in rows:
            yield Sample(kind, place, text)
    for place, text in (
        ("shell", f"commit {v.hex(40)}"),
        ("log", f"HEAD is now at {v.hex(7)} Mend the reader"),
        ("shell", f"git checkout {v.hex(12)}"),
        ("talk", f"it broke between {v.hex(40)} and {v.hex(40)}"),
        ("reply", f"https://github.com/owner/repo/commit/{v.hex(40)}"),
        ("yaml", f"      - uses: actions/checkout@{v.hex(40)} # v4"),
        ("code", f'PINNED = "{v.hex(40)}"'),
        ("log", f"index {v.hex(7)}..{v.hex(7)} 100644"),
    ):
        yield Sample("git hashes", place, text)
    for place, text in (
        ("log", f"request {v.uuid()} took 12 ms"),
        ("json", f'{{"id": "{v.uuid()}", "parent": "{v.uuid()}"}}'),
        ("code", f'NAMESPACE = uuid.UUID("{v.uuid()}")'),
        ("yaml", f"tenant_id: {v.uuid()}"),
        ("shell", f"az account set -s {v.uuid()}"),
        ("code", f'key = "{v.uuid()}"'),
        ("json", f'{{"sessionId": "{v.uuid()}", "leafUuid": "{v.uuid()}"}}'),
    ):
        yield Sample("UUIDs", place, text)
    for place, text in (
        ("shell", f"{v.hex(64)}  dist.tar.gz"),
        ("shell", f"sha256sum: {v.hex(64)}"),
        ("log", f"Digest: sha256:{v.hex(64)}"),
        ("yaml", f"image: python@sha256:{v.hex(64)}"),
        ("talk", f"the sha256 of the file is {v.hex(64)}"),
        ("json", f'{{"sha256": "{v.hex(64)}", "bytes": 120}}'),
        ("code", f'assert digest == "{v.hex(64)}"'),
        ("log", f"md5 {v.hex(32)} sha1 {v.hex(40)} sha512 {v.hex(128)}"),
        ("json", f'{{"cache_key": "{v.hex(32)}"}}'),
    ):
        yield Sample("hash lines", place, text)
    for place, text in (
        ("code", f"    --hash=sha256:{v.hex(64)} \\\n    --hash=sha256:{v.hex(64)}"),
        ("json", f'"integrity": "sha512-{v.base64(64)}"'),
        ("json", f'"resolved": "https://packages.example.org/a/-/a-1.2.3.tgz#{v.hex(40)}"'),
        ("code", f'checksum = "{v.hex(64)}"'),
        ("code", f"github.com/pkg/errors v0.9.1 h1:{v.base64(32)}"),
        ("yaml", f"  resolution: {{integrity: sha512-{v.base64(64)}}}"),
        (
            "code",
            f'{{url = "https://f.example.org/packages/{v.hex(2)}/{v.hex(60)}/a.whl", hash = "sha256:{v.hex(64)}"}}',
        ),
    ):
        yield Sample("lock files", place, text)
    for place, text in (
        ("code", f'<img src="data:image/png;base64,iVBORw0KGgo{v.base64(300)}">'),
        ("json", f'{{"image": "{v.base64(600)}"}}'),
        ("code", f"src: url(data:font/woff2;base64,d09GMgAB{v.base64(300)})"),
        ("talk", f"this picture: data:image/jpeg;base64,/9j/4AAQSkZJRg{v.base64(90)}"),
        ("reply", f"![dot](data:image/gif;base64,R0lGODlhAQABAIAAAP{v.base64(30)})"),
    ):
        yield Sample("base64 pictures", place, text)
    for place, text in (
        ("code", f'<div class="css-{v.lower(7)}-Button-{v.lower(6)}">'),
        ("code", f".sc-{v.lower(6)} {{ color: red }}"),
        ("code", f'<div id="sk-container-id-{v.digits(2)}" class="sk-top-container">'),
        ("code", f"#sk-estimator-id-{v.digits(2)} .sk-toggleable__label-arrow:before"),
        ("code", '<a class="sk-estimator-doc-link fitted">i</a>'),
        ("code", f"chunk-{v.upper(8)}.js main.{v.hex(20)}.css"),
        ("code", f'<svg id="SvgjsSvg{v.digits(4)}" data-v-{v.hex(8)}>'),
        ("code", ".sk-estimator-container-with-visible-diagram-2 { display: none }"),
        ("code", "sk-spinner-pulse-animation-container, .sk-folding-cube-4 {}"),
    ):
        yield Sample("CSS ids", place, text)


_LOOK_ALIKES: dict[str, tuple[tuple[str, str], ...]] = {
    "code that names": (
        ("code", "token = tokenizer.encode(text, add_special_tokens=False)"),
        ("code", "tokens = tokenizer.encode(prompt)"),
        ("code", 'api_key = os.environ["OPENAI_API_KEY"]'),
        ("code", 'password=os.environ.get("DB_PASSWORD")'),
        ("code", "api_key: Optional[str] = None"),
        ("code", "def login(user: str, password: Optional[str] = None, token: str | None = None):"),
        ("code", "self.password = password_hasher.hash(raw_password)"),
        ("code", "token: CancellationToken = default"),
        ("code", "const token = await getAccessToken();"),
        ("code", "secret = secrets.token_urlsafe(32)"),
        ("code", "access_key=settings.AWS_ACCESS_KEY"),
        ("code", "password = getpass.getpass('Password: ')"),
        ("code", "apiKey: process.env.API_KEY,"),
        ("code", "token = request.headers.get('Authorization')"),
        ("code", 'Token = namedtuple("Token", "type value")'),
        ("code", "secret: config.get('secret')"),
        ("code", "if token == expected_token: return True"),
        ("code", 'password := r.FormValue("password")'),
        ("code", 'String password = request.getParameter("password");'),
        ("code", "token=self._token_provider()"),
        ("code", "let secret: SecretString = load_secret()?;"),
        ("code", "passwd = pwd.getpwnam(user)"),
        ("code", "keyring.get_password(service, username)"),
        ("code", "parser.add_argument('--password', help='the password to use')"),
        ("code", 'parser.add_argument("--token", required=True)'),
        ("code", "secret_key = app.config['SECRET_KEY']"),
        ("code", "SECRET_KEY = config('SECRET_KEY')"),
        ("code", "token = next_token(stream)"),
        ("code", "access_token: string;"),
        ("code", "password: z.string().min(8),"),
        ("code", "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']"),
        ("code", "pwd = os.getcwd()"),
        ("code", "key = lambda item: item.created_at"),
        ("code", "keys = sorted(values.keys(), key=str.casefold)"),
        ("code", "primary_key=True, foreign_key='orders.customer_id'"),
        ("code", "auth = HTTPBasicAuth(username, password)"),
        ("code", "client_secret=args.client_secret,"),
        ("code", "token_type = 'authorization_code'"),
    ),
    "variables": (
        ("shell", "export TOKEN=$(cat /run/secrets/token)"),
        ("shell", "docker login -u $USER --password-stdin"),
        ("shell", 'curl -u "$USER:$PASS" https://example.org'),
        ("shell", 'mysql --password="$MYSQL_PASSWORD"'),
        ("yaml", "password: ${DB_PASSWORD}"),
        ("yaml", "token: ${{ secrets.GITHUB_TOKEN }}"),
        ("yaml", "password: {{ vault_db_password }}"),
        ("yaml", "password: !vault |"),
        ("shell", "PGPASSWORD=$PGPASSWORD psql -h db"),
        ("shell", 'echo "$SECRET_KEY" | base64 -d'),
        ("code", 'url = f"postgres://{user}:{password}@{host}/{name}"'),
        ("code", "`https://${user}:${token}@github.com/${repo}.git`"),
        ("yaml", "secretKeyRef:\n  name: db-credentials\n  key: password-of-database"),
        ("shell", "export PASSWORD=%PASSWORD_FROM_VAULT%"),
        ("shell", "read -s -p 'Password: ' password"),
    ),
    "prose": (
        ("talk", "a password is needed, and the password must be long"),
        ("talk", "What is the password policy? Passwords: at least twelve characters."),
        ("reply", "Password: required. Token: optional."),
        ("reply", "**Secret:** something that only the server knows"),
        ("talk", "the secret of a good test: its name"),
        ("reply", "Store the API key: environment variables are the usual place."),
        ("reply", "Set your password: open Settings, choose Account, then Security."),
        ("talk", "the token count is 12, tokens: 4096 at most"),
        ("reply", "| password | the user's password, hashed with argon2 |"),
        ("talk", "bearer authentication is not supported, basic authentication is"),
        ("reply", "HTTP Basic authentication-headers are sent in clear text"),
        ("talk", "How do I rotate the API key of a server?"),
        ("reply", "The `password` field: validated by the serializer."),
        ("reply", "secret: management of credentials is explained in chapter three"),
        ("talk", "passphrase: what's the difference from a password?"),
        ("log", "ERROR invalid password: authentication failed for user postgres"),
        ("log", "token: expired-yesterday, please sign in again"),
        ("log", "Unexpected token: punctuation at line 12"),
        ("log", "password: must contain a digit"),
        ("reply", "Access key: unlimited, secret: none"),
        ("talk", "machine learning login page password reset flow"),
        ("reply", "Use `--password` only in scripts; `--token` is better."),
        ("talk", "run it with --password and it asks"),
        ("reply", "The flag --api-key overrides the environment variable."),
    ),
    "placeholders": (
        ("code", 'api_key="YOUR_API_KEY"'),
        ("code", 'OPENAI_API_KEY="sk-..."'),
        ("shell", "export ANTHROPIC_API_KEY=your-api-key-here"),
        ("shell", "export OPENAI_API_KEY=<your key>"),
        ("yaml", "password: changeme"),
        ("yaml", "password: <password>"),
        ("json", '{"token": "<YOUR_TOKEN>"}'),
        ("json", '{"password": "string", "token": "string"}'),
        ("shell", "DB_PASSWORD=********"),
        ("shell", "SECRET_KEY=xxxxxxxxxxxxxxxx"),
        ("reply", "Bearer YOUR_ACCESS_TOKEN_GOES_HERE"),
        ("reply", "`Authorization: Bearer <access-token>`"),
        ("code", "postgres://user:password@localhost:5432/db"),
        ("code", "redis://:password@localhost:6379/0"),
        ("code", "https://username:password@example.org/"),
        ("shell", "curl -u username:password https://example.org"),
        ("code", 'password = "placeholder-password"'),
        ("yaml", "secret: REPLACE_WITH_YOUR_SECRET"),
        ("json", '{"api_key": "[redacted]"}'),
        ("json", '{"api_key": "[secret]"}'),
        ("code", 'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"'),
        ("code", 'key = "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"'),
        ("shell", "--password <password> --token TOKEN"),
        ("talk", "-----BEGIN RSA PRIVATE KEY----- is how such a file starts"),
        ("reply", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"),
        ("yaml", 'auth: "optional"'),
    ),
    "names": (
        ("code", "from sklearn.model_selection import train_test_split"),
        ("code", "hf_hub_download and npm_config_registry"),
        ("code", "skip-this-long-flag --sk-n 12 sk-learn"),
        ("code", "pk-of-the-orders-table, sk-some-other-name-with-words"),
        ("talk", "risk-averse-people-avoid-this task-list-of-the-week"),
        ("code", "class PasswordResetTokenGenerator(BaseTokenGenerator):"),
        ("code", "MAX_TOKENS: 4096, top_p: 0.9"),
        ("code", "token_count=1234567890"),
        ("code", "max_tokens=128000, completion_tokens: 12345678"),
        ("code", "xai-something-that-is-a-package-name gsk_learn_feature_names_out"),
        ("code", '<input type="password" name="password" autocomplete="current-password">'),
        ("code", "input[type=password]:focus"),
        ("yaml", "secretName: my-app-tls-certificate"),
        ("yaml", "tokenizer: mistral-common-v3-tekken"),
        ("json", '{"tokenizer_class": "LlamaTokenizerFast", "pad_token": "<|endoftext|>"}'),
        ("json", '{"eos_token": "<|im_end|>", "bos_token": "<|begin_of_text|>"}'),
        ("json", '{"key": "settings.appearance.theme", "value": "dark-high-contrast"}'),
        ("json", '{"passwordPolicy": "medium", "tokenEndpoint": "https://example.org/oauth/token"}'),
        ("log", "loaded discussions/20261120-120000-abcdef/log.jsonl"),
        ("talk", "claude-sonnet-4-5-20250929 and gpt-5.2-2026-01-15"),
        ("shell", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJm2 me@laptop"),
        ("shell", "docker run -u 1000:1000 -p 8080:80 image"),
        ("shell", "sort -u names:list | curl --data @- https://example.org"),
        ("code", "https://example.org/a:b@c and git@github.com:owner/repo.git"),
        ("code", 'token_url="https://login.example.org/oauth2/v2.0/token"'),
        ("code", "secret_file = '/run/secrets/database-password.txt'"),
        ("yaml", "key_file: /etc/ssl/private/server-2026.pem"),
    ),
}
