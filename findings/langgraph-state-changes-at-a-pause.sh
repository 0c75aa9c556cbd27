#!/usr/bin/env bash
# langgraph 1.2.24 (with langgraph-checkpoint 4.3.2, pydantic 2.14.4)
#
# A graph gathers an order, may ask a person to agree (`interrupt`), and reports. It runs once straight through and once with the
# pause in the middle, with the same checkpointer, in one process.
#
# Expected: the report is the same. A pause is documented as a place where the graph stops and goes on with its state.
# Seen: straight through, a node gets the values that the node before returned; after a pause it gets them from the
# checkpoint, as other values. A pydantic field with `exclude=True` is its default again: a price of 4900 cents is 0. A tuple
# is a list, a set of tuples a list of lists, a Counter a dict, a deque has no limit any more. Only the set is told of.
#
# Why it matters: the branch where a person checks the order is the one that computes with other figures; tests that do
# not pause pass.
#
# Output seen:
#   straight through: price 4900, place (3, 4), done {('a', 1)}, seen Counter, last [2, 3]
#   after a pause: price 0, place [3, 4], done [['a', 1]], seen dict, last [1, 2, 3]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 pydantic==2.14.4 2>/dev/null

cat > try.py <<'PY'
from collections import Counter, deque
from typing import Any, TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field
class Order(BaseModel):
    item: str
    price: int = Field(default=0, exclude=True)
class State(TypedDict, total=False):
    order: Any
    place: Any
    done: Any
    seen: Any
    last: Any
    pauses: bool
    report: str
def gather(state):
    return {"order": Order(item="desk", price=4900), "place": (3, 4), "done": {("a", 1)}, "seen": Counter("aab"), "last": deque([1, 2], maxlen=2)}
def agree(state):
    if state["pauses"]:
        interrupt("Go on?")
    return {}
def report(state):
    state["last"].append(3)
    seen = type(state["seen"]).__name__
    return {"report": f"price {state['order'].price}, place {state['place']}, done {state['done']}, seen {seen}, last {list(state['last'])}"}
graph = StateGraph(State)
for node in (gather, agree, report):
    graph.add_node(node)
for one, other in ((START, "gather"), ("gather", "agree"), ("agree", "report"), ("report", END)):
    graph.add_edge(one, other)
app = graph.compile(checkpointer=InMemorySaver())
print("straight through:", app.invoke({"pauses": False}, {"configurable": {"thread_id": "1"}})["report"])
thread = {"configurable": {"thread_id": "2"}}
app.invoke({"pauses": True}, thread)
print("after a pause:", app.invoke(Command(resume=True), thread)["report"])
PY
venv/bin/python try.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
