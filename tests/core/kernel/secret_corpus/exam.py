"""The corpus that is only judged: written before the detectors, and never looked at to change them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from tests.core.kernel.secret_corpus.values import VENDORS, Make, Sample, Values, filled

_AROUND = (
    ("talk", "Why does {s} not work any more? It did on Monday."),
    ("reply", "1. Open the page\n2. Paste {s}\n3. Save"),
    ("code", "const upstream = new Upstream({ credential: '{s}', region: 'eu' });"),
    ("code", 'UPSTREAM = "{s}"  # TODO move out'),
    ("log", "[error] 31#31: *7 upstream rejected credential={s}, client: 10.1.2.3"),
    ("json", '[["credential","{s}"],["n",1]]'),
    ("yaml", "stages:\n- script: upstream login '{s}'\n"),
    ("shell", "upstream configure {s} && upstream status"),
)

_KINDS: dict[str, tuple[Make, tuple[tuple[str, str], ...]]] = {
    "private key": (
        lambda v: v.pem(v.choice(["RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "DSA PRIVATE KEY"])),
        (
            ("log", "wrote /tmp/id:\n{s}"),
            ("shell", "cat > key.pem <<EOF\n{s}\nEOF"),
            ("reply", "Replace\n\n```pem\n{s}\n```\n\nby a new one."),
        ),
    ),
    "PGP block": (
        Values.pgp,
        (("shell", "gpg --import <<'E'\n{s}\nE"), ("yaml", "signing: |\n{s}\n"), ("code", 'const char *k = R"({s})";')),
    ),
    "URL password": (
        lambda v: v.password(12).replace("%", "-").replace("^", "-"),
        (
            ("yaml", "DATABASE_URL: mysql2://rails:{s}@mysql/rails_production"),
            ("talk", "the broker is at mqtt://sensor:{s}@broker.example.org:1883"),
            ("reply", "Use `ftp://upload:{s}@files.example.org/in`."),
            ("json", '{"smtp": "smtps://mailer:{s}@smtp.example.org:465"}'),
        ),
    ),
    "redis://:pw@": (
        lambda v: v.lower(20),
        (
            ("shell", "REDIS_URL=redis://:{s}@redis-1.example.org:18231"),
            ("json", '{"cache": {"url": "redis://:{s}@127.0.0.1"}}'),
            ("reply", "`redis-cli -u redis://:{s}@h:6379 ping` answers PONG"),
        ),
    ),
    "URL password with @ or /": (
        lambda v: f"{v.letters(4)}/{v.letters(4)}@{v.letters(3)}",
        (
            ("shell", "DATABASE_URL='postgres://app:{s}@pg.example.org:5432/app?sslmode=require'"),
            ("json", '{"dsn":"clickhouse://default:{s}@ch:9000/logs"}'),
            ("talk", "it says bad URI for mysql://web:{s}@localhost/web"),
        ),
    ),
    "Azure SAS": (
        lambda v: v.base64(32).replace("+", "%2b").replace("/", "%2f").replace("=", "%3d"),
        (
            ("json", '{"SharedAccessSignature": "sv=2021-10-04&ss=btqf&srt=sco&st=2026-01-01T00%3A00%3A00Z&sig={s}"}'),
            ("reply", "Download https://x.file.core.windows.net/s/f?sp=rl&sv=2024-11-04&sig={s}&se=2027 first"),
            ("code", 'sb = "SharedAccessSignature sr=h.servicebus.windows.net&sig={s}&se=1767225600&skn=Root"'),
        ),
    ),
    "Azure client secret": (
        lambda v: f"{v.letters(3)}7Q~{v.url(34)}",
        (
            ("yaml", "azure:\n  client_secret: {s}"),
            ("shell", "export ARM_CLIENT_SECRET={s}"),
            ("log", "AADSTS7000215 for secret {s}"),
        ),
    ),
    "Azure account key": (
        lambda v: v.base64(64),
        (
            ("shell", "az storage blob list --account-key {s}"),
            ("json", '{"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=f;AccountKey={s}"}'),
        ),
    ),
    "SECRET_KEY=": (
        lambda v: v.letters(50),
        (
            ("code", 'app.config["SECRET_KEY"] = "{s}"'),
            ("code", "SECRET_KEY: str = '{s}'"),
            ("shell", "docker run -e SECRET_KEY={s} web"),
            ("yaml", '    - SECRET_KEY="{s}"'),
        ),
    ),
    "DB_PASS=": (
        lambda v: v.letters(10),
        (
            ("code", "define('DB_PASS', '{s}');"),
            ("json", '{"env": {"DB_PASS": "{s}"}}'),
            ("shell", "sudo DB_USER=app DB_PASS='{s}' ./migrate"),
            ("yaml", "      - DB_PASS={s}"),
        ),
    ),
    "Pwd=": (
        lambda v: v.letters(11),
        (
            ("shell", "sqlcmd 'Driver={ODBC Driver 18};Server=db;Uid=u;Pwd={s}'"),
            ("yaml", 'Default: "server=mysql;uid=root;pwd={s};database=shop"'),
            ("talk", "string is Host=pg;Username=app;Password={s};Database=app"),
        ),
    ),
    "ENCRYPTION_KEY=": (
        lambda v: v.hex(64),
        (
            ("yaml", "N8N_ENCRYPTION_KEY: {s}"),
            ("json", '{"encryptionKey": "{s}"}'),
            ("log", "starting with ENCRYPTION_KEY={s}"),
            ("shell", "ENCRYPTION_KEY='{s}' node server.js"),
        ),
    ),
    "hex private key": (
        lambda v: v.hex(64),
        (
            ("code", 'const PRIVATE_KEY = "{s}";'),
            ("shell", "forge script Deploy --private-key 0x{s}"),
            ("yaml", "deployer_private_key: '0x{s}'"),
        ),
    ),
    "escaped JSON": (
        lambda v: v.letters(18),
        (
            ("log", 'msg="request" body="{\\"login\\": \\"x\\", \\"passwd\\": \\"{s}\\"}"'),
            ("json", '{"args": "{\\"env\\":{\\"DB_PASSWORD\\":\\"{s}\\"}}"}'),
            ("code", "data = '{\\\"secret\\\": \\\"{s}\\\"}'"),
        ),
    ),
    "curl -u": (
        lambda v: v.letters(20),
        (
            ("shell", "curl --request GET -u 'me@example.org:{s}' https://jira.example.org/rest"),
            ("talk", "I tried curl -k -u root:{s} https://10.0.0.1 without luck"),
            ("yaml", "  script: curl -T a.tgz -u deploy:{s} https://repo.example.org/a.tgz"),
        ),
    ),
    "--password x": (
        lambda v: v.letters(10),
        (
            ("shell", "helm registry login -u ci --password {s} r.example.org"),
            ("yaml", '    command: ["server", "--admin-password", "{s}"]'),
            ("reply", "`vault login --token={s}`"),
            ("shell", "tool push --api-token '{s}' ./dist"),
        ),
    ),
    "netrc": (
        lambda v: v.letters(16),
        (
            ("log", "+ echo 'machine pypi.example.org login build password {s}'"),
            ("talk", "default login anonymous password {s}"),
            ("yaml", "content: |\n  machine github.example.org\n  login bot password {s}\n"),
        ),
    ),
    "docker auth": (
        Values.docker,
        (
            ("log", 'config.json: {"auths":{"ghcr.io":{"auth":"{s}"}}}'),
            ("shell", 'echo \'{"auths":{"https://r.example.org":{"auth":"{s}","email":""}}}\' > ~/.docker/config.json'),
            ("json", '{"HttpHeaders": {}, "auths": {"quay.io": {"email": "a@b.c", "auth": "{s}"}}}'),
        ),
    ),
    "base64 of an env file": (
        Values.env,
        (
            ("json", '{"name": "dotenv", "content": "{s}"}'),
            ("log", "DOTENV_B64 is {s}"),
            ("reply", "Set the variable to\n\n    {s}\n\nand deploy."),
        ),
    ),
    "key over two lines": (
        lambda v: f"{v.letters(30)}\n{v.letters(18)}",
        (
            ("reply", "The key `sk-ant-api03-{s}` was pasted."),
            ("talk", "here: xai-{s}"),
            ("shell", "CLIENT_SECRET={s}\nPORT=80"),
        ),
    ),
    "assigned password": (
        lambda v: v.letters(10),
        (
            ("reply", "- **Password:** `{s}`"),
            ("log", "user=app password={s} host=db"),
            ("code", '$config["password"] = "{s}";'),
            ("talk", "user admin, password: {s}"),
            ("yaml", "rootPassword: \"{s}\""),
        ),
    ),
    "assigned phrase": (
        Values.phrase,
        (("json", '{"wifi_password": "{s}"}'), ("code", 'PASSWORD = "{s}"'), ("log", "passphrase={s}")),
    ),
    "assigned token": (
        lambda v: v.lower(40),
        (
            ("yaml", "  auth_token: {s}"),
            ("code", "access_token='{s}'"),
            ("json", '{"refresh_token":"{s}","scope":"all"}'),
            ("shell", "SONAR_TOKEN={s} mvn verify"),
            ("log", "callback?client_secret={s}&grant=code"),
            ("talk", "api key = {s}"),
        ),
    ),
    "bearer": (
        lambda v: v.url(40),
        (("json", '{"Authorization": "Bearer {s}"}'), ("talk", "header is authorization: bearer {s}")),
    ),
    "basic": (Values.docker, (("shell", "curl -H 'Authorization: Basic {s}' https://x"), ("yaml", "auth: Basic {s}"))),
    "AWS secret": (
        lambda v: v.base64(30),
        (
            ("yaml", "    AWS_SECRET_ACCESS_KEY: {s}"),
            ("code", 'boto3.client("s3", aws_secret_access_key="{s}")'),
            ("shell", "aws configure set aws_secret_access_key {s}"),
        ),
    ),
}  # fmt: skip


def exam(seed: int = 1108) -> Iterator[Sample]:
    """Secrets of every kind, then look-alikes."""
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
    for kind, rows in {
        "git hashes": (
            ("log", f"{v.hex(9)} (HEAD -> main, origin/main) Read keys once"),
            ("talk", f"can you revert {v.hex(40)}?"),
            ("json", f'{{"head_sha": "{v.hex(40)}", "base": {{"sha": "{v.hex(40)}"}}}}'),
            ("shell", f"git cherry-pick {v.hex(40)}"),
            ("yaml", f"rev: {v.hex(40)}"),
            ("code", f"Subproject commit {v.hex(40)}"),
            ("log", f"tree {v.hex(40)}\nparent {v.hex(40)}\nauthor A <a@b.c>"),
        ),
        "UUIDs": (
            ("log", f"trace_id={v.uuid()} span={v.hex(16)}"),
            ("talk", f"the tenant {v.uuid()} has no quota"),
            ("code", f'[Guid("{v.uuid()}")]'),
            ("json", f'{{"token_id": "{v.uuid()}"}}'),
            ("shell", f"mount UUID={v.uuid()} /mnt"),
            ("yaml", f"subscription: {v.uuid()}"),
            ("code", f"CLIENT_ID = '{v.uuid()}'"),
        ),
        "hash lines": (
            ("shell", f"echo '{v.hex(64)}  model.gguf' | sha256sum -c"),
            ("log", f"sha512:{v.hex(128)} verified"),
            ("code", f'EXPECTED_SHA256 = "{v.hex(64)}"'),
            ("reply", f"| a.whl | `{v.hex(64)}` |"),
            ("json", f'{{"etag": "\\"{v.hex(32)}\\"", "digest": "sha256:{v.hex(64)}"}}'),
            ("yaml", f"prefix_key: sha256:{v.hex(64)}"),
            ("talk", f"layer {v.hex(12)} is 300 MB, blob {v.hex(64)}"),
            ("log", f"traceparent: 00-{v.hex(32)}-{v.hex(16)}-01"),
        ),
        "lock files": (
            ("json", f'"node_modules/a": {{"version": "1.0.0", "integrity": "sha384-{v.base64(48)}"}}'),
            ("code", f'[[package]]\nname = "serde"\nversion = "1.0"\nchecksum = "{v.hex(64)}"'),
            ("code", f"golang.org/x/text v0.3.7/go.mod h1:{v.base64(32)}"),
            ("code", f"nokogiri (1.15)\n  sha256={v.hex(64)}"),
            (
                "yaml",
                f"packages:\n  /a@1:\n    resolution: {{integrity: sha512-{v.base64(64)}, tarball: a.tgz}}",
            ),
            ("json", f'"_meta": {{"hash": {{"sha256": "{v.hex(64)}"}}}}'),
            ("code", f'a = [{{file = "a.whl", hash = "sha256:{v.hex(64)}"}}]'),
        ),
        "base64 pictures": (
            ("code", f"background: url('data:image/svg+xml;base64,PHN2ZyB4{v.base64(150)}')"),
            ("json", f'{{"type": "image", "data": "iVBORw0KGgo{v.base64(900)}"}}'),
            ("log", f"<binary> /9j/4AAQSkZJRgABAQ{v.base64(240)}"),
            ("code", f"//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz{v.base64(120)}"),
            ("talk", f"the favicon is data:image/x-icon;base64,AAABAAEAEBA{v.base64(60)}"),
        ),
        "CSS ids": (
            ("code", f'<span class="jss{v.digits(3)} MuiButton-label-{v.digits(2)} css-{v.lower(6)}">'),
            ("code", f"#sk-container-id-{v.digits(1)} div.sk-label-container:hover"),
            (
                "code",
                f'<input class="sk-toggleable__control sk-hidden--visually" id="sk-estimator-id-{v.digits(2)}">',
            ),
            ("code", f".styles_wrapper__{v.letters(5)} .module--{v.lower(5)}"),
            ("code", f"assets/index-{v.url(8)}.js?v={v.hex(8)}"),
            ("code", f'<g id="pk-series-group-{v.digits(4)}" class="rk-axis-label-rotated">'),
        ),
    }.items():
        for place, text in rows:
            yield Sample(kind, place, text)


_LOOK_ALIKES: dict[str, tuple[tuple[str, str], ...]] = {
    "code that names": (
        ("code", "token = self.lexer.next_token()"),
        ("code", "token: Token = tokens[position]"),
        ("code", 'password = os.environ["POSTGRES_PASSWORD"]'),
        ("code", 'SECRET_KEY = os.environ.get("SECRET_KEY", "")'),
        ("code", "api_key: SecretStr | None = Field(default=None)"),
        ("code", "auth_token: Annotated[str, Header()] = ..."),
        ("code", "const apiKey = useApiKey();"),
        ("code", "password: formData.get('password') as string,"),
        ("code", "this.password = passwordEncoder.encode(password);"),
        ("code", "var token = JsonConvert.DeserializeObject<Token>(body);"),
        ("code", "token, err := jwt.Parse(tokenString, keyFunc)"),
        ("code", 'secret := []byte(os.Getenv("JWT_SECRET"))'),
        ("code", 'let token = env::var("TOKEN").expect("TOKEN must be set");'),
        ("code", "access_key = credentials.access_key"),
        ("code", "token = response.json()['access_token']"),
        ("code", "return {'token': create_access_token(identity=user.id)}"),
        ("code", "password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt())"),
        ("code", "user.set_password(form.cleaned_data['password1'])"),
        ("code", "token=token, secret=secret, password=password"),
        ("code", "passwords: List[str] = []"),
        ("code", "private_key = serialization.load_pem_private_key(data, password=None)"),
        ("code", "encryption_key = Fernet.generate_key()"),
        ("code", "if (token == null || token.isExpired()) refresh();"),
        ("code", "type Props = { token: string; password?: string }"),
        ("code", '@Value("${app.jwt.secret}") private String secret;'),
        ("code", "csrf_token: {% csrf_token %}"),
        ("code", "token_ids = input_ids[0].tolist()"),
        ("code", "password = forms.CharField(widget=forms.PasswordInput)"),
        ("code", 'secret_name = f"{prefix}-database-credentials"'),
        ("code", "api_key = st.text_input('API key', type='password')"),
        ("code", "tokenizer = AutoTokenizer.from_pretrained(model_name_or_path)"),
        ("code", 'pwd=$(pwd) && cd "$pwd"'),
    ),
    "variables": (
        ("shell", "TOKEN=`vault read -field=value secret/ci`"),
        ("shell", 'curl -H "Authorization: Bearer $TOKEN" https://example.org'),
        ("shell", "curl --user ${USERNAME}:${PASSWORD} https://example.org"),
        ("yaml", "api_key: !ENV ${API_KEY}"),
        ("yaml", "password: \"{{ lookup('env', 'DB_PASSWORD') }}\""),
        ("yaml", "      TOKEN: ${{ secrets.NPM_TOKEN }}"),
        ("code", 'dsn = "mysql://%s:%s@%s/%s" % (user, password, host, name)'),
        ("code", "url = `redis://:${process.env.REDIS_PASSWORD}@cache:6379`"),
        ("code", "password = \"#{node['mysql']['root_password']}\""),
        ("shell", 'export AWS_SECRET_ACCESS_KEY="$(op read op://dev/aws/secret)"'),
        ("shell", 'tool login --password "${PASSWORD}" --token $(cat token.txt)'),
        ("code", "password = var.database_password"),
        ("code", "secret = data.aws_secretsmanager_secret_version.current.secret_string"),
    ),
    "prose": (
        ("talk", "My password manager has no field for tokens, what now?"),
        ("reply", "Tokens: short strings that the model reads. A token: about four characters."),
        ("reply", "Password: at least eight characters, one of them a digit."),
        ("reply", "The secret: practise. There's no other secret."),
        ("talk", "is password=required enough or do I need a pattern"),
        ("reply", "3. **API key:** created under Settings > Developers"),
        ("log", "Wrong password: attempt 3 of 5"),
        ("log", "token: unauthorized_client"),
        ("reply", "Basic understanding-of-algorithms is enough"),
        ("talk", "the bearer certificates/documentation/requirements are missing"),
        ("reply", "Use `curl -u` with the name, then a colon; `curl -u name` asks for the rest."),
        ("reply", "password: see the team's vault"),
        ("reply", "The passphrase: whatever-you-chose-at-setup protects the key."),
        ("talk", "secret santa: everyone draws a name"),
        ("reply", "`--token`: authentication-token for the upload"),
        ("reply", "encryption key: rotated yearly; signing key: rotated monthly"),
        ("log", "auth: successful"),
        ("talk", "They said Pwd=empty works"),
        ("reply", "`machine` and `login` lines come first, `password` last"),
        ("reply", "access token: JSON-formatted, signed"),
        ("talk", "set secret: true in the manifest; password: false"),
    ),
    "placeholders": (
        ("shell", "export GITHUB_TOKEN=ghp_your_token_here"),
        ("shell", "curl -u your_username:your_password https://api.example.org"),
        ("code", 'client = OpenAI(api_key="<OPENAI_API_KEY>")'),
        ("code", 'genai.configure(api_key="YOUR_GEMINI_API_KEY_HERE")'),
        ("yaml", "password: your_secure_password"),
        ("yaml", "  token: TODO-REPLACE-ME"),
        ("json", '{"client_secret": "{client_secret}"}'),
        ("json", '{"password": "••••••••••"}'),
        ("reply", "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"),
        ("reply", "`amqp://guest:guest@localhost:5672/`"),
        ("reply", "redis://:<password>@<host>:6379"),
        ("code", 'SECRET_KEY = "insert-your-secret-key"'),
        ("shell", "AWS_SECRET_ACCESS_KEY=XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"),
        ("shell", "ANTHROPIC_API_KEY=sk-ant-..."),
        ("code", '"sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"'),
        ("reply", "Authorization: Bearer {token}"),
        ("reply", "Authorization: Basic <credentials>"),
        ("shell", "mysql -u root --password=<your-password>"),
        ("yaml", "api_key: null-or-your-key"),
        ("json", '{"auth": "<base64 of user:password>"}'),
        ("log", "password=[FILTERED] token=[REDACTED]"),
        ("log", "api_key=***************"),
    ),
    "names": (
        ("code", "import { TokenClassificationPipeline } from '@huggingface/transformers'"),
        ("code", "sk-estimator-wrapper-component and sk-fading-circle-animation"),
        ("code", "num_return_sequences=1, pad_token_id=50256, eos_token_id=128009"),
        ("code", "ALTER TABLE users ADD CONSTRAINT pk_users_organisation PRIMARY KEY (id);"),
        ("code", "<label for='password'>Password:</label>"),
        ("code", "input::-ms-reveal, input[autocomplete=new-password] { display: none }"),
        ("yaml", "imagePullSecrets:\n- name: registry-credentials-production"),
        ("yaml", "secretName: letsencrypt-account-key"),
        ("yaml", "key: kubernetes.io/hostname"),
        ("json", '{"unk_token": "<unk>", "mask_token": "[MASK]", "sep_token": "[SEP]"}'),
        ("json", '{"token_endpoint": "https://login.example.org/token", "secretLength": 64}'),
        ("json", '{"authMethod": "certificate", "tokenType": "urn:ietf:params:oauth:token-type:jwt"}'),
        ("json", '{"key": "ctrl+shift+alt+p", "command": "workbench.action.showCommands"}'),
        ("shell", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ me@host"),
        ("shell", "sort -u users:groups.txt"),
        ("shell", "chown -R app:application /srv && su -u postgres:postgres"),
        ("log", "GET /oauth/authorize?response_type=token&client_id=web-frontend 200"),
        ("log", "jwt: issuer https://auth.example.org/realms/production"),
        ("talk", "the models are gemini-2.5-flash-lite-preview-09-2025 and o4-mini-2025-04-16"),
        ("talk", "mask-shaped, disk-utilisation-over-time, dark-knight-returns-1986-part-2"),
        ("code", "BEGIN_PRIVATE_KEY_MARKER = '-----BEGIN PRIVATE KEY-----'"),
        ("code", "password_file: /run/secrets/db_password"),
        ("code", "private_key_path = Path.home() / '.ssh' / 'id_ed25519'"),
        ("code", "pwd: '/home/user/projects/example-2026'"),
        ("code", "keys.publicKeyFingerprint = SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"),
    ),
}
