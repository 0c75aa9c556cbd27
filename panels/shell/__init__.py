"""The window around the panels: menus, panes, palette, status bar, dialogs."""
