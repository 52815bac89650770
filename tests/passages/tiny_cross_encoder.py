"""A cross-encoder that counts one word, made on the spot. For the tests of reranking."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = {"[UNK]": 0, "[SEP]": 1}


def make_model(folder: Path, outputs: int = 1, word: str = "theodolite") -> Path:
    """Write a cross-encoder whose logit is 2 for each time the word is in the passage, less 1; those of the question do not count."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({**WORDS, word: 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", WORDS["[SEP]"])]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = [-2.0, 2.0][-outputs:] if outputs == 2 else [2.0]
    nodes = [
        helper.make_node("Equal", ["input_ids", "wanted"], ["is_word"]),
        helper.make_node("Equal", ["token_type_ids", "passage"], ["in_passage"]),
        helper.make_node("And", ["is_word", "in_passage"], ["counts"]),
        helper.make_node("Cast", ["counts"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axis"], ["sum"], keepdims=1),
        helper.make_node("MatMul", ["sum", "weights"], ["weighted"]),
        helper.make_node("Sub", ["weighted", "one"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "counting",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, None]) for name in ("input_ids", "token_type_ids")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, outputs])],
        [
            helper.make_tensor("wanted", TensorProto.INT64, [], [2]),
            helper.make_tensor("passage", TensorProto.INT64, [], [1]),
            helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
            helper.make_tensor("weights", TensorProto.FLOAT, [1, outputs], weights),
            helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    return folder
