"""Leading run of two sequences that is the same, found fast where nearly all of it is."""

from __future__ import annotations

from operator import is_


def shared_run(one: tuple[object, ...], two: tuple[object, ...]) -> int:
    """Number of leading items that are the same: objects or, where the whole run up to the last is, equal ones.

    Args:
        one: of the last time; two: of this time. Most often the first is a run of the second, but for its last item.
    """
    most = min(len(one), len(two))
    for end in (most, most - 1):
        if end > 0 and one[:end] == two[:end]:
            return end
    return [*map(is_, one, two), False].index(False)
