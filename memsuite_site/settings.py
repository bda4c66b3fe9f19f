"""Django's settings, all derived from the suite's own (memories.settings).

Nothing is written when this is imported: the secret is made when something is first signed, the
console's database when something first connects to it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from django.utils.functional import SimpleLazyObject

from memories.settings import load_settings
from memsuite_site.secret import installation_secret

SUITE = load_settings()

_here = Path(__file__).resolve().parent
# In a checkout the pages lie beside this package, in the wheel they travel inside it.
_templates = next((d for d in (_here / "templates", _here.parent / "templates") if d.is_dir()), None)

DEBUG = False
SECRET_KEY = SimpleLazyObject(lambda: installation_secret(SUITE.secret_file))
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *SUITE.console_hosts]

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "axes",
    "memories",
    "maintenance",
]

MIDDLEWARE = [
    # What goes out passes these last, so that static files, refusals and errors carry every header too.
    "memories.console.headers.HeadersMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "memories.console.compression.CompressionMiddleware",
    "memories.console.headers.HostMiddleware",
    "memories.console.errors.SizeMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "memories.console.csrf.CsrfMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memories.console.errors.ErrorsMiddleware",
    "memories.console.gate.GateMiddleware",
    # Last, as it asks to be: it answers for a name that rests.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memsuite_site.urls"
WSGI_APPLICATION = "memsuite_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_templates] if _templates else [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memories.console.shell.shell",
            ],
            "libraries": {"parts": "memories.console.tags"},
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

# --- people --------------------------------------------------------------------------

SHORTEST_PASSWORD = 12
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": SHORTEST_PASSWORD},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "console:login"
LOGIN_REDIRECT_URL = "console:home"

# A name from an address rests after five wrong tries. Counted in the console's database, so that a restart
# forgives nothing; per name and address together, so that nobody can lock another person out from elsewhere.
REST_MINUTES = 15
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=REST_MINUTES)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "axes.handlers.database.AxesDatabaseHandler"
AXES_DISABLE_ACCESS_LOG = True  # who logged in when is no business of a throttle
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "memories.console.pages.entrance.resting"
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # looks for Django's CSRF middleware by name; ours is a subclass of it
]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- the log -------------------------------------------------------------------------

# Django alone says nothing of a page that broke unless it is being developed.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"timed": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "timed"}},
    "loggers": {"django": {"handlers": ["stderr"], "level": "ERROR", "propagate": True}},
}

# --- language and time ---------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# --- files ---------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = SUITE.cache_dir / "static"
STATICFILES_DIRS = [_here.parent / "memories" / "console" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "memories.console.static_files.HashedFiles"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MAX_AGE = 0  # of a file asked for without its hash; with it, files are immutable

# No page takes more at once; an import brings its own limit.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

# --- cookies and headers -------------------------------------------------------------

# Cookies are shared by all ports of a host: names of our own keep another local site from undoing ours.
SESSION_COOKIE_NAME = "memsuite_session"
SESSION_COOKIE_AGE = 7 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_NAME = "memsuite_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_FAILURE_VIEW = "memories.console.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "no-referrer"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# On http://127.0.0.1 there is no TLS to insist on. console_https says that something in front provides it.
SECURE_SSL_REDIRECT = SUITE.console_https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SUITE.console_https else None
SESSION_COOKIE_SECURE = SUITE.console_https
CSRF_COOKIE_SECURE = SUITE.console_https
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SUITE.console_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SUITE.console_https
SECURE_HSTS_PRELOAD = SUITE.console_https
