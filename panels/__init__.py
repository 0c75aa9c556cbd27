"""What each panel shows, as functions of state: `panel(desk)`."""
