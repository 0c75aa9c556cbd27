"""The one operation without a token: who listens here proves that it holds the token of this start."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from core.hooks.client import HELLO_PATH
from core.hooks.fields import Data, Query
from core.hooks.operation import Resource, operation
from core.hooks.request import Answer, Request


class HelloQuery(Query, frozen=True):
    """A question that was never asked before."""

    nonce: Annotated[str, Meta(pattern="^[0-9a-f]{32,128}$")]


class HelloData(Data, frozen=True):
    """The answer: HMAC-SHA256, in hexadecimal digits, under the token."""

    proof: str


async def hello(request: Request[HelloQuery]) -> Answer:
    """Prove, before a token or any words are sent, that this is the program that left them in the home.

    The proof is the HMAC-SHA256, under the token, of four lines: `manual-slop hello v1`, the nonce, the port, the
    process id as in `hook.json`. Ask on the connection that the token will go over.
    """
    return Answer(HelloData(request.desk.prove(request.fields.nonce)))


RESOURCE = Resource((operation("GET", HELLO_PATH, hello, {200: HelloData}, is_open=True),))
