"""What is known of models as the state has it, and how it reaches the workers: inside their effects."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import CachingSettings, FileLimits
from core.kernel.values.state import AppState
from core.services.settings.settings_rules import profile_of
from core.talk.discussion.discussion_messages import AttachFile, AttachText, StoreAttachment
from core.talk.turn.turn_messages import CallProvider
from tests.core.app.playbook import Playbook, of, settings_loaded


def test_what_a_server_told_of_a_model_stands_before_what_was_known_of_it() -> None:
    known = ModelProfile("local", "m", family="open")
    told = replace(known, context_tokens=4096, takes_cache_prompt=True, from_server=True)
    config = replace(AppState().config, profiles=(known,), models={"local": (told,)})

    assert profile_of(AppState(config=config), "local", "m") == told
    assert profile_of(AppState(config=replace(config, models={})), "local", "m") == known


def test_a_call_carries_the_models_profile_and_the_caching_settings_of_its_moment() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    caching = CachingSettings(keepalive=True)
    book.play(settings_loaded(settings=replace(book.state.config.settings, caching=caching)))

    call = book.ask(chosen, "hello")

    assert call.spec.caching == caching
    assert call.spec.profile == ModelProfile("embedded", "smollm2-135m", context_tokens=8192)
    assert isinstance(call, CallProvider)


def test_an_attachment_carries_how_large_it_may_be() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    files = FileLimits(max_attachment_bytes=123)
    book.play(settings_loaded(settings=replace(book.state.config.settings, files=files)))

    for command in (AttachFile(chosen, "/a.txt"), AttachText(chosen, "tides")):
        (effect,) = of(book.play(command), StoreAttachment)
        assert effect.max_bytes == 123
