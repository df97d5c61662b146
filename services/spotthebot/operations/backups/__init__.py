"""Backups: one file with all that a suite keeps, made while it runs, and a suite made of such a file again."""

from spotthebot.operations.backups.creation import BackupContents, create_backup
from spotthebot.operations.backups.restoration import checked_backup, restore_backup

__all__ = ["BackupContents", "checked_backup", "create_backup", "restore_backup"]
