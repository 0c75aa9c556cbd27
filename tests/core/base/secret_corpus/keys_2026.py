"""Keys as their makers give them out in 2026, and what looks like them: made from a seed, as all values here are.

Shapes after the makers' own pages (Cloudflare "Token formats", Google AI Studio "API keys", Stripe "API keys", Heroku
"API tokens") and the public rule sets of Betterleaks, Gitleaks and Kingfisher (read 2026-11-29).
"""

from __future__ import annotations

import string

from tests.core.base.secret_corpus.values import Make

_LOWER32 = string.ascii_lowercase + "234567"

KEYS: dict[str, Make] = {
    "Gemini": lambda v: f"AQ.{v.url(50)}",
    "Hugging Face OAuth": lambda v: f"hf_oauth_{v.url(60)}",
    "Hugging Face OAuth, signed": lambda v: f"hf_oauth_{v.jwt()}",
    "xAI": lambda v: f"xai-{v.url(80)}",
    "xAI management": lambda v: f"xai-token-{v.letters(80)}",
    "Together": lambda v: f"tgp_v1_{v.url(43)}",
    "Fireworks": lambda v: f"fw_{v.letters(24)}",
    "Jina": lambda v: f"jina_{v.hex(32)}{v.letters(28)}",
    "E2B": lambda v: f"e2b_{v.hex(40)}",
    "Voyage": lambda v: f"pa-{v.url(43)}",
    "Modal id": lambda v: f"ak-{v.letters(22)}",
    "Modal secret": lambda v: f"as-{v.letters(22)}",
    "LlamaCloud": lambda v: f"llx-{v.letters(48)}",
    "Firecrawl": lambda v: f"fc-{v.hex(32)}",
    "Browserbase": lambda v: f"bb_live_{v.url(27)}",
    "Brave": lambda v: f"BSA{v.url(28)}",
    "Apify": lambda v: f"apify_api_{v.letters(36)}",
    "Daytona": lambda v: f"dtn_{v.hex(64)}",
    "Context7": lambda v: f"ctx7sk-{v.uuid()}",
    "Langfuse": lambda v: f"sk-lf-{v.uuid()}",
    "Mem0": lambda v: f"m0-{v.letters(40)}",
    "Cursor": lambda v: f"{v.choice(['key', 'crsr'])}_{v.hex(64)}",
    "Devin": lambda v: f"apk_user_{v.base64(96)}",
    "Devin user": lambda v: f"cog_{v.of(_LOWER32, 50)}q7",
    "Amp": lambda v: f"sgamp_user_{v.upper(26)}_{v.hex(64)}",
    "Weights and Biases": lambda v: f"wandb_v1_{v.letters(77)}",
    "Cartesia": lambda v: f"sk_car_{v.letters(22)}",
    "Cloudflare user": lambda v: f"cfut_{v.letters(40)}{v.hex(8)}",
    "Cloudflare account": lambda v: f"cfat_{v.letters(40)}{v.hex(8)}",
    "Cloudflare global": lambda v: f"cfk_{v.letters(40)}{v.hex(8)}",
    "Vercel Blob": lambda v: f"vercel_blob_rw_{v.letters(16)}_{v.letters(30)}",
    "Vercel": lambda v: f"{v.choice(['vcp', 'vca', 'vci', 'vcr', 'vck'])}_{v.url(56)}",
    "Resend": lambda v: f"re_{v.letters(8)}_{v.letters(24)}",
    "Stripe organization": lambda v: f"sk_org_{v.choice(['live', 'test'])}_{v.letters(120)}",
    "Heroku": lambda v: f"HRKU-AA{v.url(58)}",
    "Trigger.dev": lambda v: f"tr_prod_{v.letters(20)}",
    "Inngest": lambda v: f"signkey-prod-{v.hex(64)}",
    "Polar": lambda v: f"polar_oat_{v.url(43)}",
    "Paddle": lambda v: f"pdl_live_apikey_{v.lower(26)}_{v.letters(22)}_{v.letters(3)}",
    "MailerSend": lambda v: f"mlsn.{v.hex(64)}",
    "Supabase": lambda v: f"sbp_v0_{v.hex(40)}",
    "MongoDB Atlas": lambda v: f"mdb_sa_sk_{v.url(40)}",
    "CockroachDB": lambda v: f"CCDB1_{v.letters(22)}_{v.letters(40)}",
    "Astra DB": lambda v: f"AstraCS:{v.letters(24)}:{v.hex(64)}",
    "ClickHouse": lambda v: f"4b1d{v.letters(38)}",
    "Deno Deploy": lambda v: f"dd{v.choice(['p', 'w'])}_{v.letters(36)}",
    "Val Town": lambda v: f"vtwn_{v.letters(28)}",
    "Unkey": lambda v: f"unkey_{v.letters(24)}",
    "Elastic Cloud": lambda v: f"essu_{v.url(88)}",
    "UpCloud": lambda v: f"ucat_{v.upper(26)}",
    "Exoscale": lambda v: f"EXO{v.hex(24)}",
    "Zuplo": lambda v: f"zpka_{v.lower(32)}_{v.hex(8)}",
    "OneSignal": lambda v: f"os_v2_app_{v.of(_LOWER32, 101)}q7",
    "Buildkite": lambda v: f"bkpat_{v.url(54)}",
    "Rootly": lambda v: f"rootly_{v.hex(64)}",
    "Cloudsmith": lambda v: f"csa_{v.hex(30)}{v.letters(6)}",
    "Aikido": lambda v: f"AIK_SECRET_{v.letters(64)}",
    "Snyk": lambda v: f"snyk_uat.{v.hex(8)}.{v.url(60)}.{v.url(80)}",
    "StackHawk": lambda v: f"hawk.{v.url(20)}.{v.url(20)}",
    "Harness": lambda v: f"pat.{v.url(22)}.{v.hex(24)}.{v.letters(20)}",
    "Airtable": lambda v: f"pat{v.letters(14)}.{v.hex(64)}",
    "ClickUp": lambda v: f"pk_{v.digits(8)}_{v.upper(32)}",
    "Adafruit": lambda v: f"aio_{v.letters(28)}",
    "Salesforce": lambda v: f"00D{v.letters(12)}!{v.url(90)}",
    "Slack session": lambda v: f"xoxc-{v.digits(12)}-{v.digits(12)}-{v.digits(12)}-{v.hex(64)}",
    "Slack cookie": lambda v: f"xoxd-{v.base64(90)}",
    "Grafana": lambda v: f"glsa_{v.letters(32)}_{v.hex(8).upper()}",
    "GitLab, routable": lambda v: f"glpat-{v.url(40)}.01.{v.lower(9)}",
    "GitHub app, signed": lambda v: f"ghs_{v.digits(7)}_{v.jwt()}",
    "Segment": lambda v: f"sgp_{v.letters(64)}",
    "Sourcegraph": lambda v: f"slk_{v.hex(64)}",
    "Doppler": lambda v: f"dp.st.prd_eu.{v.letters(43)}",
    "Zoho": lambda v: f"1000.{v.hex(32)}.{v.hex(32)}",
    "Asaas": lambda v: f"$aact_prod_{v.letters(80)}",
    "Docker unlock": lambda v: f"SWMKEY-1-{v.letters(43)}",
}
"""Keys by their maker: each is told by its own beginning."""

ADDRESSES: dict[str, tuple[str, Make]] = {
    "Telegram bot": ("https://api.telegram.org/bot{s}/sendMessage", lambda v: f"{v.digits(10)}:AA{v.url(33)}"),
    "IFTTT": ("https://maker.ifttt.com/trigger/door/with/key/{s}", lambda v: v.url(43)),
    "Make": ("https://hook.eu1.make.com/{s}", lambda v: v.lower(32)),
    "Zapier MCP": ("https://mcp.zapier.com/api/mcp/s/{s}/mcp", lambda v: v.url(80)),
    "Firecrawl MCP": ("https://mcp.firecrawl.dev/fc-{s}/v2/mcp", lambda v: v.hex(32)),
    "Infura": ("https://mainnet.infura.io/v3/{s}", lambda v: v.hex(32)),
    "Alchemy": ("https://eth-mainnet.g.alchemy.com/v2/{s}", lambda v: v.url(32)),
    "QuickNode": ("https://cool-dawn.quiknode.pro/{s}/", lambda v: v.hex(40)),
    "Google calendar": ("https://calendar.google.com/calendar/ical/me%40example.org/private-{s}/basic.ics", lambda v: v.hex(32)),
    "Google chat": ("https://chat.googleapis.com/v1/spaces/AAAA/messages?token={s}", lambda v: v.url(43)),
    "Azure function": ("https://shop.azurewebsites.net/api/orders?code={s}", lambda v: f"{v.url(54)}=="),
    "Power Automate": ("https://prod-12.westeurope.logic.azure.com/workflows/a/triggers/manual/paths/invoke?sp=%2F&sv=1.0&sig={s}", lambda v: v.url(43)),
    "Exa MCP": ("https://mcp.exa.ai/mcp?exaApiKey={s}", lambda v: v.uuid()),
    "Smithery": ("https://server.smithery.ai/@x/y/mcp?api_key={s}&profile=mild-fox", lambda v: v.uuid()),
    "key": ("https://api.example.org/v1/pumps?units=si&key={s}", lambda v: v.letters(32)),
    "apikey": ("https://api.example.org/v1/pumps?apikey={s}", lambda v: v.hex(32)),
    "access_token": ("https://graph.example.org/me?access_token={s}&fields=id", lambda v: v.letters(60)),
    "subscription-key": ("https://api.example.org/t?subscription-key={s}", lambda v: v.hex(32)),
    "auth": ("wss://live.example.org/socket?auth={s}", lambda v: v.letters(40)),
    "X-Amz-Security-Token": ("https://b.s3.amazonaws.com/k?X-Amz-Security-Token={s}", lambda v: v.letters(200)),
}  # fmt: skip
"""Addresses that carry their key, with a place for it."""

SENTENCES = (
    "my key is {s} please",
    "I pasted {s}, and it says 401.",
    "(`{s}`)",
    "Der Schlüssel lautet „{s}“; er gilt noch.",
    '{{"value": "{s}"}}',
)
"""Sentences that name no secret before the key."""

LOOK_ALIKES = (
    "re_compile_pattern_with_flags_and_groups", "fw_update_available_for_device_3", "fw_3", "jina_embeddings_v3_small_model_name",
    "e2b_sandbox_template_id_for_the_tests", "pa-11y", "as-is-where-is-2024", "ak-47-and-other-things-of-1947", "fc-match sans-serif",
    "m0-cortex-microcontroller", "key_error_handler_for_all_of_the_rows_of_a_table", "cog_services_account", "sgp_calibration_v2_final",
    "tr_dev_environment_name", "hf_oauth_redirect_url_of_the_space", "vercel_blob_rw_token_from_the_dashboard", "xai-token-count-of-the-request",
    "AQ.1 and AQ.2 of the questionnaire", "pat.match(line)", "path.resolve(here)", "BSAC diving club 2024", "EXOSCALE_API_KEY", "hawk.example.org",
    "unkey_value_from_mapping", "lip_sync_model_v2", "pk_12345678_INDEX", "sk_org_live_", "HRKU-AA", "cfut_", "re_<8>_<24>", "1000.50.25",
    "https://example.org/search?key=name&token=next_page_2", "https://docs.example.org/api?code=javascript", "https://example.org/oauth?code=challenge",
    "https://github.com/a/b/commit/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", "https://example.org/?token=your-token-here-please-1",
    "https://mainnet.infura.io/v3/YOUR-PROJECT-ID", "https://eth-mainnet.g.alchemy.com/v2/demo", "https://hook.eu1.make.com/your-hook",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf", "https://example.org/item?key=1234567890",
    "https://www.google.com/maps/place/data=!4m6!3m5!1s0x47a84e373f035901", "https://docs.google.com/document/d/1aBcD3fGhIjKlMnOpQrStUvWxYz012345678/edit",
)  # fmt: skip
"""Names, words and addresses that begin in the same way and are none."""
