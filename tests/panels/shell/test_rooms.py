"""The table of rooms, and what the window makes of it."""

from __future__ import annotations

from itertools import groupby

from panels.shell.layout import MENUS, PLACES, WINDOW
from panels.shell.palette import DIALOGS
from panels.shell.rooms import ACTIONS, PANELS, ROOMS

IN_MENUS = {
    "File": "new open_project | export_markdown export_json export_page import_files import_folder | settings | quit",
    "Edit": "undo_delete undo_harvest undo_turn | copy_reply | find search",
    "View": "composer to_end prompt_before prompt_after | list hub widen_list narrow_list widen_hub narrow_hub | presets context knowledge caching harvest retrieval agent mcp signals usage | theme larger smaller normal_size",
    "Discussion": "send stop retry regenerate regenerate_with compare version_before version_after | branch model effort rename pin archive | delete | previous next | tools mode autonomy kill_commands",
    "Tools": "palette | template draft_editor attach save_preset | regenerate_digest update_index trust | look_harvest quiet local_servers refresh_models",
    "Help": "help shortcuts | about",
}


def _menu(name: str) -> str:
    groups = groupby((action for action in ACTIONS if action.menu == name), key=lambda action: action.group)
    return " | ".join(" ".join(action.id for action in group) for _, group in groups)


def test_the_menus_stand_as_people_know_them_whichever_room_an_entry_comes_from() -> None:
    assert {menu: _menu(menu) for menu in MENUS} == IN_MENUS
    assert list(dict.fromkeys(action.menu for action in ACTIONS)) == list(MENUS)


def test_no_two_rooms_claim_the_same_dialog_tab_or_key_of_the_window_s_file() -> None:
    dialogs = [kind for room in ROOMS for kind in room.dialogs]
    keys = [one.key for one in WINDOW] + [one.key for room in ROOMS if room.view for one in room.view.kept]

    assert len({*dialogs, "palette", "shortcuts"}) == len(DIALOGS) == len(dialogs) + 2
    assert len(set(keys)) == len(keys)
    assert [one.id for one in PANELS] == [one.id for one in PLACES]
    assert len({one.id for one in PANELS}) == len(PANELS)


def test_all_that_a_view_keeps_is_a_field_of_it() -> None:
    """A name that is misspelt would be read from nothing and written to nobody."""
    names = {(room.view, one.name) for room in ROOMS if room.view for one in room.view.kept}

    assert [name for view, name in names if not hasattr(view(), name)] == []
