#!/usr/bin/env bash
# onnxruntime 1.32.0, onnx 1.23.2
#
# An embedding model is made small with `quantize_dynamic` (int8 weights), and texts are embedded in batches.
#
# Expected: int8 costs a little accuracy, but a row's result is its own: batches are for speed.
# Seen: the scale of the activations is taken from the whole batch, so one row with large values makes all other rows
# of its batch coarser. The same document embedded alone and beside an outlier has a cosine of about .9 to itself,
# and the best hit of a search changes. With float weights rows do not see each other.
#
# Why it matters: an index built in batches and a query embedded alone are not comparable; a rebuilt index ranks
# otherwise though no text changed.
#
# Output seen:
#   float: same document alone and in a batch, cosine over 0.999: True; best hit alone 0, in a batch 0
#   int8: same document alone and in a batch, cosine over 0.999: False; best hit alone 0, in a batch 31
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6

cat > call.py <<'PY'
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic
random = np.random.default_rng(0)
first = random.normal(size=(64, 128)).astype("f") / 8
second = random.normal(size=(128, 32)).astype("f") / 11
nodes = [helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("MatMul", ["b", "w2"], ["y"])]
takes = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])
gives = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32])
weights = [numpy_helper.from_array(first, "w1"), numpy_helper.from_array(second, "w2")]
graph = helper.make_graph(nodes, "embed", [takes], [gives], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), "float.onnx")
quantize_dynamic("float.onnx", "int8.onnx")
documents = random.normal(size=(40, 64)).astype("f")
query = documents[0] + random.normal(size=64).astype("f")
outlier = random.normal(size=(1, 64)).astype("f") * 60
for name in ("float", "int8"):
    session = onnxruntime.InferenceSession(f"{name}.onnx")
    def embed(rows):
        found = session.run(None, {"x": rows.astype("f")})[0]
        return found / np.linalg.norm(found, axis=1, keepdims=True)
    alone = np.vstack([embed(document[None]) for document in documents])
    batch = embed(np.vstack([documents, outlier]))[:-1]
    wanted = embed(query[None])[0]
    same = (alone * batch).sum(axis=1).min() > 0.999
    hits = f"best hit alone {(alone @ wanted).argmax()}, in a batch {(batch @ wanted).argmax()}"
    print(f"{name}: same document alone and in a batch, cosine over 0.999: {same}; {hits}")
PY
venv/bin/python -W ignore call.py 2> errors | tee seen || { cat errors; exit 1; }
diff <(sed -n 's/^#   //p' "$script") seen
