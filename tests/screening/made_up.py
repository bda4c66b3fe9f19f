"""Made-up secrets, put together at run time: no whole one stands in a file for a scanner to find."""

from __future__ import annotations

import base64
import json
import random
import string

_random = random.Random(20_251_130)
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
DIGITS = string.digits


def some(alphabet: str, length: int) -> str:
    """Random text that starts and ends with a letter or digit, as real tokens nearly always do."""
    ends = [character for character in alphabet if character.isalnum()]
    inner = (_random.choice(alphabet) for _ in range(length - 2))
    return "".join([_random.choice(ends), *inner, _random.choice(ends)])


def _pem(kind: str, line_break: str) -> str:
    lines = [
        "-----BEGIN " + kind + "-----",
        *(some(BASE64, 64) for _ in range(6)),
        "-----END " + kind + "-----",
    ]
    return line_break.join(lines)


def _jwt() -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return ".".join(
        [part({"alg": "HS256", "typ": "JWT"}), part({"sub": "42", "admin": True}), some(URL_SAFE, 43)]
    )


def _url(scheme: str, password: str, host: str) -> str:
    return scheme + "://" + "svc:" + password + "@" + host


SECRETS: dict[str, str] = {
    "rsa key": _pem("RSA PRIVATE " + "KEY", " "),
    "pkcs8 key in json": _pem("PRIVATE " + "KEY", "\\n"),
    "openssh key": _pem("OPENSSH PRIVATE " + "KEY", " "),
    "ec key": _pem("EC PRIVATE " + "KEY", " "),
    "encrypted key": "-----BEGIN RSA PRIVATE "
    + "KEY----- Proc-Type: 4,ENCRYPTED DEK-Info: AES-128-CBC,"
    + some(HEX, 32).upper()
    + " "
    + some(BASE64, 64),
    "pgp key": "-----BEGIN PGP PRIVATE " + "KEY BLOCK----- Version: GnuPG v2 " + some(BASE64, 64),
    "putty key": "Private-" + "Lines: 14 " + some(BASE64, 64),
    "age key": "AGE-SECRET-" + "KEY-1" + some(UPPER, 58),
    "aws key id": "AK" + "IA" + some(BASE32, 16),
    "aws session key id": "AS" + "IA" + some(BASE32, 16),
    "aws secret": "aws_secret_" + "access_key=" + some(BASE64, 40),
    "gcp api key": "AI" + "za" + some(URL_SAFE, 35),
    "gcp oauth token": "ya" + "29." + some(URL_SAFE, 60),
    "gcp oauth secret": "GOC" + "SPX-" + some(URL_SAFE, 28),
    "azure": "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + some(BASE64, 86) + "==",
    "github classic": "gh" + "p_" + some(ALNUM, 36),
    "github oauth": "gh" + "o_" + some(ALNUM, 36),
    "github server": "gh" + "s_" + some(ALNUM, 36),
    "github fine": "github_" + "pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59),
    "gitlab": "gl" + "pat-" + some(URL_SAFE, 20),
    "gitlab runner": "gl" + "rt-" + some(URL_SAFE, 20),
    "slack bot": "xo" + "xb-" + some(DIGITS, 12) + "-" + some(DIGITS, 12) + "-" + some(ALNUM, 24),
    "slack user": "xo" + "xp-" + "-".join(some(DIGITS, 12) for _ in range(3)) + "-" + some(HEX, 32),
    "slack app": "xa" + "pp-1-" + some(UPPER, 11) + "-" + some(DIGITS, 13) + "-" + some(HEX, 64),
    "slack webhook": "https://hooks.slack"
    + ".com/services/T"
    + some(UPPER, 8)
    + "/B"
    + some(UPPER, 8)
    + "/"
    + some(ALNUM, 24),
    "discord webhook": "https://discord"
    + ".com/api/webhooks/"
    + some("123456789", 18)
    + "/"
    + some(URL_SAFE, 68),
    "discord bot": "M" + some(ALNUM, 23) + "." + some(URL_SAFE, 6) + "." + some(URL_SAFE, 27),
    "telegram bot": some("123456789", 10) + ":A" + "A" + some(URL_SAFE, 33),
    "anthropic": "sk-" + "ant-api03-" + some(URL_SAFE, 93),
    "openai project": "sk-" + "proj-" + some(URL_SAFE, 120),
    "openai classic": "sk-" + some(ALNUM, 20) + "T3Blbk" + "FJ" + some(ALNUM, 20),
    "deepseek": "sk-" + some(HEX, 32),
    "openrouter": "sk-" + "or-v1-" + some(HEX, 64),
    "hugging face": "h" + "f_" + some(ALNUM, 34),
    "groq": "gs" + "k_" + some(ALNUM, 52),
    "xai": "xa" + "i-" + some(ALNUM, 80),
    "perplexity": "pp" + "lx-" + some(ALNUM, 48),
    "replicate": "r" + "8_" + some(ALNUM, 37),
    "npm": "np" + "m_" + some(ALNUM, 36),
    "pypi": "pypi-" + "AgE" + "IcHlwaS5vcmc" + some(URL_SAFE, 120),
    "stripe": "sk_" + "live_" + some(ALNUM, 24),
    "stripe test": "sk_" + "test_" + some(ALNUM, 24),
    "stripe restricted": "rk_" + "live_" + some(ALNUM, 24),
    "stripe webhook": "wh" + "sec_" + some(ALNUM, 32),
    "sendgrid": "S" + "G." + some(URL_SAFE, 22) + "." + some(URL_SAFE, 43),
    "twilio": "S" + "K" + some(HEX, 32),
    "mailchimp": some(HEX, 32) + "-u" + "s12",
    "digitalocean": "do" + "p_v1_" + some(HEX, 64),
    "shopify": "shp" + "at_" + some(HEX, 32),
    "atlassian": "ATA" + "TT3" + some(URL_SAFE, 180),
    "docker hub": "dckr_" + "pat_" + some(URL_SAFE, 27),
    "vault": "hv" + "s." + some(URL_SAFE, 90),
    "databricks": "da" + "pi" + some(HEX, 32),
    "grafana": "gl" + "sa_" + some(ALNUM, 32) + "_" + some(HEX, 8),
    "linear": "lin_" + "api_" + some(ALNUM, 40),
    "notion": "nt" + "n_" + some(ALNUM, 46),
    "supabase": "sb" + "p_" + some(HEX, 40),
    "tailscale": "ts" + "key-auth-" + some(ALNUM, 17) + "-" + some(ALNUM, 32),
    "jwt": _jwt(),
    "postgres url": _url("postgresql", some(ALNUM, 12), "db.home:5432/app"),
    "redis url": _url("redis", "hunter" + "2", "10.0.0.7:6379/0"),
    "https url": _url("https", some(ALNUM, 20), "git.home/team/repo.git"),
    "url with an at sign": _url("amqp", "p@ss" + "W0rd", "queue.home"),
    "url without a user": "redis://" + ":" + some(ALNUM, 14) + "@cache.home:6379",
}

LOOK_ALIKES: tuple[str, ...] = (
    "There is no API key in the repository",
    "The private key never leaves the HSM",
    "A file with -----BEGIN PRIVATE " + "KEY----- must not be committed",
    "Look for -----BEGIN RSA PRIVATE " + "KEY----- and -----END RSA PRIVATE " + "KEY----- in logs",
    "-----BEGIN PUBLIC KEY----- " + some(BASE64, 64),
    "-----BEGIN CERTIFICATE----- " + some(BASE64, 64),
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + some(BASE64, 43),
    "id=550e8400-e29b-41d4-a716-446655440000",
    "commit=da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "md5=d41d8cd98f00b204e9800998ecf8427e",
    "image=nginx@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity=sha512-" + some(BASE64, 86) + "==",
    "token=${GITHUB_TOKEN}",
    "export OPENAI_API_KEY=$OPENAI_API_KEY",
    "key={{ secrets.NPM_TOKEN }}",
    "password=<your password here>",
    "api_key=os.environ['API_KEY']",
    "postgres://user:password@localhost/app",
    "postgres://user:${PASS}@localhost/app",
    "postgres://user:$DB_PASS@localhost/app",
    "postgres://user:***@localhost/app",
    "postgres://user:<password>@localhost/app",
    "postgres://user:{password}@{host}/app",
    "mysql://root:%s@db/app",
    "https://user:your-password@example.com",
    "https://user:xxxxxx@example.com",
    "https://user:•••••@example.com",
    "amqp://svc:CHANGEME@queue",
    "http://localhost:7777/path@2x.png",
    "https://github.com/@scope/package:1.2@latest",
    "git@github.com:team/repo.git",
    "ssh://git@forge.home:2222/team/repo.git",
    "mail me at svc:team@home.example",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AKIA" + "XXXXXXXXXXXXXXXX",
    "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "ghp_" + "x" * 36,
    "gh" + "p_your_token_here",
    "ghp_" + "0" * 36,
    "tokens start with ghp_ or github_pat_",
    "sk-your-key-here",
    "sk-" + "x" * 48,
    "sk-learn is imported as sklearn",
    "task-runner-configuration-for-continuous-integration",
    "desk-0123456789abcdef0123456789abcdef",
    "pk_live_" + some(ALNUM, 24),
    "xoxb-your-token",
    "xoxb-123-456-abc",
    "hf_hub_download is a function",
    "npm_config_registry=http://localhost:4873",
    "pypi-server runs on the NAS",
    "eyJhbGciOi is how a token begins",
    "eyJub3QiOiJhIGpzb24gd2ViIHRva2VuIn0.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
    "AIza is the prefix of Google keys",
    "glpat-xxxxxxxxxxxxxxxxxxxx",
    "SG.example.example",
    "hvs.short",
    "whsec_placeholder_for_the_webhook_secret",
    "skill_live_mode_is_enabled_everywhere",
    "path=/usr/lib/AKIAlike/module",
    "data:image/png;base64," + some(BASE64, 200),
)

# Values with no form of their own: the name beside them tells. For a person to look at.
DOUBTFUL: dict[str, str] = {
    "env password": "DB_PASS" + "WORD=" + "Xk7" + some(ALNUM, 9) + "!q",
    "spoken password": "the admin password is " + "Sommer" + "-2024!",
    "norwegian password": "passordet er " + "fjell" + "Topp42",
    "yaml password": "password: '" + "tr0ub4dor" + "&3'",
    "json secret": '{"client_' + 'secret": "' + some(ALNUM, 32) + '"}',
    "api key of an unknown maker": "weather_api_" + "key=" + some(ALNUM, 32),
    "hexadecimal key": "signing" + "_key: " + some(HEX, 64),
    "uuid as a key": "API_" + "KEY=" + "3f2b8c1e-9d47-4a6b-" + "8e15-7c90d2ab64f1",
    "bearer header": "Authorization: Bear" + "er " + some(ALNUM, 40),
    "basic header": "Authorization: Bas" + "ic " + some(ALNUM, 28) + "==",
    "option": "sshpass --pass" + "word " + "Win" + "ter99x server",
    "curl login": "curl -u admin:" + "pa55" + "Phrase https://nas.home/api",
    "wifi": "wifi_pass" + "phrase=" + "kaffe-2031-Kopp",
    "django": "SECRET" + "_KEY = '" + some(ALNUM, 50) + "'",
    "home assistant": "ha_long_lived_access_" + "token: " + some(ALNUM, 180),
    "smtp": "smtp.pass" + "word=" + some(ALNUM, 16),
    "webhook": "webhook " + "secret: " + some(HEX, 40),
    "pin of a vault": "master " + "key => " + some(BASE64, 44),
}

# A telling name, and beside it no secret at all.
LOOK_ALIKES_OF_DOUBTFUL: tuple[str, ...] = (
    "password=${DB_PASSWORD}",
    "password: <ask Kari>",
    "PASSWORD=changeme",
    "password: ********",
    "password policy: 12 characters",
    "password_min_length=12",
    "passwords are rotated every 90 days",
    "the password is in the vault",
    "the password is stored in 1password",
    "passordet er i hvelvet",
    "password_file=/run/secrets/db1",
    "secret=/etc/app/secret2.key",
    "secret_name=prod/db/main",
    "token=$GITHUB_TOKEN",
    "token: ${{ secrets.DEPLOY_TOKEN }}",
    "token expires=2026-12-01",
    "token: see the vault entry deploy-2024",
    "token_limit=8192",
    "max_tokens=4096",
    "api_key=os.environ['API_KEY']",
    "api_key: process.env.API_KEY",
    "api key: none needed",
    "there is no api key for this service",
    "the secret is patience",
    "client_secret=YOUR_CLIENT_SECRET",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "the Bearer token goes in the header",
    "access_token=getToken()",
    "sort_key=created_at",
    "primary key=customer_id",
    "foreign_key=orders.customer_id",
    "cache_key=user:42:profile",
    "key=value",
    "partition key: tenant",
    "session token lifetime=3600s",
    "pass=1 of 3 done",
    "credentials: stored in the keychain",
    "secret santa: Ola draws on 2026-12-01",
    "webhook secret: rotated last week",
)
