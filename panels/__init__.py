"""What each panel shows, as functions of state: `panel(state, view, ui, send)`."""
