"""Nearness of two texts in meaning, on one scale for all models: cosines of one mean nothing to thresholds of another.

e5 gives .72 to texts that have nothing in common, MiniLM .04. Each model is measured on plain pairs when its index is made, and
its cosines are told on MiniLM's scale, which all thresholds are chosen on.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

import msgspec

from core.retrieval.embedders import E5_NAME, MODEL_NAME
from core.retrieval.embedding import instruction_of
from core.retrieval.remote_embedder import Embedder, sound_vectors

T = TypeVar("T")

PAIRS = (
    ("When does the ferry to the island leave?", "The boat for the island sails at seven each morning."),
    ("Which database holds the invoices?", "Invoices are kept in PostgreSQL since March."),
    (
        "How do I restart the build server?",
        "Run the service command twice to start the machine for builds again.",
    ),
    ("What is grandmother allergic to?", "Grandma cannot eat walnuts."),
    (
        "Why did the tests fail on Monday?",
        "On Monday the suite broke because a certificate had expired.",
    ),
    ("Who plays the violin in the quartet?", "Miriam took over the violin of the string quartet."),
    ("How much does a year of storage cost?", "We pay 240 euros for storage a year."),
    ("Where was the film shot?", "They made the movie in a village near Lisbon."),
    ("Which soil do tomatoes want?", "Tomatoes grow best in loose, warm earth."),
    ("What colour is the new logo?", "The company's new sign is dark green."),
    ("How is a knee injury treated?", "After hurting her knee she had physiotherapy for six weeks."),
    ("Who won the chess tournament?", "Anand came first in the tournament of chess players."),
    (
        "What did Paul give his sister for her birthday?",
        "I wrapped up a telescope for my sister, she turns thirty on Friday! Paul",
    ),
    (
        "How long did the hike to the hut take?",
        "We were up at the hut after five hours, my feet still hurt from that trail.",
    ),
    (
        "Which port does the proxy listen on?",
        "I moved the reverse proxy from 8080 to 9443 last night, so adjust your firewall.",
    ),
    ("What is the name of Carla's dog?", "Carla: Biscuit chewed my slippers again, that puppy is a menace."),
    (
        "When is the deadline of the grant application?",
        "The proposal for funding has to be in by the third of May, otherwise we wait a year.",
    ),
    ("Why did Tom leave his job?", "Tom told me he quit because he never saw his kids any more."),
    (
        "What kind of oven does the bakery use?",
        "The bakers heat their loaves over wood, in a stone oven from 1920.",
    ),
    (
        "How often are backups made?",
        "A snapshot of everything is copied to the second disk each night at two.",
    ),
    ("Which exam does Lena have to repeat?", "Lena failed statistics and sits it again in September."),
    (
        "What was wrong with the car?",
        "The garage says it was the alternator, the battery never charged while I drove.",
    ),
    (
        "How do we name branches?",
        "Let us begin each branch with the number of its ticket, then a few words.",
    ),
    ("Where do the neighbours go in summer?", "Next door they spend July and August at a lake in Finland."),
)
"""A question and a passage that answers it, each; any other passage has nothing to do with it."""

_ALIKE, _UNLIKE = 0.75, 0.99
"""Shares of the pairs' cosines, and of the others', that a scale is laid through. A search shows the best of many: of what
answers the upper quarter counts, and of what does not the uppermost hundredth."""

_LEAST_SPREAD = 0.02
"""Between the two; a model that tells them apart by less gets its cosines told as they are."""


class Scale(msgspec.Struct, frozen=True):
    """A model's cosine of what answers a question, and of what has nothing to do with it."""

    alike: float
    unlike: float

    def told(self, cosines: Mapping[T, float]) -> Mapping[T, float]:
        """`nearness` of each."""
        return cosines if self == MINILM else {one: self.nearness(cosine) for one, cosine in cosines.items()}

    def nearness(self, cosine: float) -> float:
        """A cosine of this model on the scale of the model that comes with the program."""
        if self == MINILM:
            return cosine
        share = (cosine - self.unlike) / (self.alike - self.unlike)
        return MINILM.unlike + share * (MINILM.alike - MINILM.unlike)


MINILM = Scale(alike=0.643, unlike=0.261)

OWN: Mapping[str, Scale] = MappingProxyType({MODEL_NAME: MINILM, E5_NAME: Scale(alike=0.529, unlike=0.250)})
"""Scales of the models that come with the program; a test measures them anew."""


def measured(embedder: Embedder, *, timeout_s: float) -> Scale:
    """The scale of a model; that of the program's own where it tells nothing apart.

    Raises:
        EmbedError: it makes no vectors.
    """
    import numpy as np

    from core.retrieval.embedding import cosine

    wanted = instruction_of(embedder.name)
    asked = sound_vectors(embedder, [wanted.query + one for one, _ in PAIRS], timeout_s=timeout_s)
    said = sound_vectors(embedder, [wanted.passage + one for _, one in PAIRS], timeout_s=timeout_s)
    dots = asked.astype(np.int64) @ said.astype(np.int64).T
    is_pair = np.eye(len(PAIRS), dtype=bool)
    alike, unlike = np.quantile(dots[is_pair], _ALIKE), np.quantile(dots[~is_pair], _UNLIKE)
    found = Scale(alike=cosine(float(alike)), unlike=cosine(float(unlike)))
    return found if found.alike - found.unlike >= _LEAST_SPREAD else MINILM
