"""A tool day in aider, run by its own interpreter. It has no tools: a person adds the files that the other clients' models read.

A line of JSON a turn, the words and the paths of files; `done` for each.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

from aider.coders import Coder
from aider.io import InputOutput
from aider.models import Model

with contextlib.redirect_stdout(sys.stderr):
    model = Model(f"anthropic/{os.environ['PEER_MODEL']}")
    model.cache_control = True  # as `.aider.model.settings.yml` says it of a model that it does not know yet
    coder = Coder.create(
        main_model=model,
        edit_format="ask",
        io=InputOutput(pretty=False, yes=True, fancy_input=False),
        cache_prompts=True,
        use_git=False,
        map_tokens=0,
    )
for line in sys.stdin:
    words, files = json.loads(line)
    coder.abs_read_only_fnames |= {str(Path(name).resolve()) for name in files}
    with contextlib.redirect_stdout(sys.stderr):
        coder.run(with_message=words)
    print("done", flush=True)
