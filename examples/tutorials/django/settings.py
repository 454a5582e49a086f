"""A project with one application, whose primary keys are IDs of flakeid."""

DEFAULT_AUTO_FIELD = "flakeid.django.FlakeIdAutoField"
FLAKEID_GENERATOR = "shop.ids.generator"

INSTALLED_APPS = ["django.contrib.contenttypes", "rest_framework", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite"}}
ROOT_URLCONF = "shop.api"
ALLOWED_HOSTS = ["*"]
USE_TZ = True
DEBUG = True
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None}
