"""Django's settings, all derived from the suite's own (memories.settings).

Nothing is written when this is imported: the secret is made when something is first signed, the
console's database when something first connects to it.
"""

from __future__ import annotations

from pathlib import Path

from django.utils.functional import SimpleLazyObject

from memories.settings import load_settings
from memsuite_site.secret import installation_secret

SUITE = load_settings()

_here = Path(__file__).resolve().parent
# In a checkout the pages lie beside this package, in the wheel they travel inside it.
_templates = next((d for d in (_here / "templates", _here.parent / "templates") if d.is_dir()), None)

DEBUG = False
SECRET_KEY = SimpleLazyObject(lambda: installation_secret(SUITE.secret_file))
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "memories",
    "maintenance",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "memsuite_site.urls"
WSGI_APPLICATION = "memsuite_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_templates] if _templates else [],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "memsuite_site.sqlite",
        "NAME": SUITE.console_db,
        "OPTIONS": {
            "timeout": 20,
            # A transaction that starts by reading cannot fail later on a lock that another one took.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

# On http://127.0.0.1 there is no TLS to insist on. console_https says that something in front provides it.
SECURE_SSL_REDIRECT = SUITE.console_https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SUITE.console_https else None
SESSION_COOKIE_SECURE = SUITE.console_https
CSRF_COOKIE_SECURE = SUITE.console_https
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SUITE.console_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SUITE.console_https
SECURE_HSTS_PRELOAD = SUITE.console_https
