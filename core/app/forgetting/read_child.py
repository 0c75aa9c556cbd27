"""Child process that writes a file's bytes to its standard output. `core/app/forgetting/leftovers.py` says why."""

from __future__ import annotations

import sys

from core.kernel.opener import open_file

_PIECE_BYTES = 1 << 20


def main() -> int:
    """Copy the file that the command line names. Returns 1 where it cannot be read."""
    try:
        with open_file(sys.argv[1]) as stream:
            while data := stream.read(_PIECE_BYTES):
                sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
