"""The one owner of state: its loop, its thread, its workers."""

from core.controller.app import AppController

__all__ = ["AppController"]
