"""What the world knows of attachments: kinds, names, fields and reasons."""

from roadstead.capabilities.attachments.api.names import *  # noqa: F403 - constants, all of them
from roadstead.capabilities.attachments.api.reasons import BY_NAME as BY_NAME
from roadstead.capabilities.attachments.api.reasons import REASONS as REASONS
