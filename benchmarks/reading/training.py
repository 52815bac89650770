"""How the trained readers are made: examples from labelled applications, features, and one fit for each head."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.reading.applications import Label, LabelledApplication
from benchmarks.reading.logistic import Array, Sparse, fit_logistic
from benchmarks.reading.matching import match_labels
from trigpoint.reading.facts import contexts_of
from trigpoint.reading.features import Features, class_features, topic_features
from trigpoint.reading.linear import Head, LinearReader, hash_of, known_features
from trigpoint.reading.profile import Profile
from trigpoint.reading.readers import Readers
from trigpoint.reading.status import SIGNALS, heard_features
from trigpoint.reading.topics import is_readable, rule_topics, words_of
from trigpoint.reading.vocabulary import ASPECTS, PLACED_TOPICS, READ_STATUSES, Aspect, Status, Topic, aspects_of

SEEN_AT_LEAST = 2  # times, or a feature is left out
PENALTY = 1 / 1.5
UNLABELLED = {True: 1.0, False: 0.3}
"""How much a statement without a label counts as one that is on no subject: in real documents fully, as few of them are
on one; in those written for us less, as most of what they say is on a subject."""
DOUBTED = 0.3  # how much it counts if the rules place it
FINEST = 127


@dataclass(frozen=True)
class Example:
    """A statement to learn from: what a reader sees of it, and what a person said of it."""

    family: str
    is_real: bool
    labels: tuple[Label, ...]
    by_rule: tuple[Topic, ...]
    on_aspect: Features
    on_topic: Features
    on_status: Features


def examples_of(application: LabelledApplication) -> list[Example]:
    """Return the statements of an application as examples."""
    labels: dict[tuple[str, int], list[Label]] = defaultdict(list)
    for label, statements in match_labels(application):
        for one in statements:
            labels[one.document_id, one.index].append(label)
    found = []
    for context in contexts_of(application.statements, Profile(), application.documents):
        statement = context.statement
        if not is_readable(statement):
            continue
        words = words_of(context)
        by_rule = rule_topics(words)
        found.append(
            Example(
                family=application.family,
                is_real=application.is_real,
                labels=tuple(labels[statement.document_id, statement.index]),
                by_rule=by_rule,
                on_aspect=topic_features(statement, context.previous, words.found, words.above, by_rule),
                on_topic=class_features(words.found, words.above, by_rule),
                on_status=heard_features(context, [signal for signal in SIGNALS if signal.test(context)]),
            )
        )
    return found


def train(examples: Sequence[Example]) -> Readers:
    """Return readers that have learned from these examples and nothing else."""
    return Readers(aspects=_train_aspects(examples), topics=_train_topics(examples), statuses=_train_statuses(examples))


def _train_aspects(examples: Sequence[Example]) -> LinearReader[Aspect]:
    wanted = np.array([[aspect in _aspects(_topics(one)) for aspect in ASPECTS] for one in examples], dtype=float)
    importance = np.array([[_importance(one, aspect) for aspect in ASPECTS] for one in examples])
    return fit_reader(ASPECTS, [one.on_aspect for one in examples], wanted, importance)


def _importance(one: Example, aspect: str) -> float:
    if one.labels:
        return 1.0
    return DOUBTED if aspect in _aspects(one.by_rule) else UNLABELLED[one.is_real]


def _train_topics(examples: Sequence[Example]) -> LinearReader[Topic]:
    """Learn topics from statements that have one, so that a head tells its topic from the others, not from nothing."""
    placed = [one for one in examples if _aspects(_topics(one))]
    wanted = np.array([[topic in _topics(one) for topic in PLACED_TOPICS] for one in placed], dtype=float)
    return fit_reader(PLACED_TOPICS, [one.on_topic for one in placed], wanted, np.ones_like(wanted))


def _train_statuses(examples: Sequence[Example]) -> LinearReader[Status]:
    """Learn statuses from labelled statements. Of a statement with several labels each counts."""
    labelled = [(one, label) for one in examples for label in one.labels]
    wanted = np.array([[label.status == status for status in READ_STATUSES] for _, label in labelled], dtype=float)
    importance = np.array([[1 / len(one.labels)] * len(READ_STATUSES) for one, _ in labelled])
    return fit_reader(READ_STATUSES, [one.on_status for one, _ in labelled], wanted, importance)


def _topics(one: Example) -> set[str]:
    return {topic for label in one.labels for topic in label.topics}


def _aspects(topics: Iterable[str]) -> set[str]:
    return {aspect for topic in topics for aspect in aspects_of(topic)}  # type: ignore[arg-type]


def fit_reader(
    heads: tuple[Head, ...], features: Sequence[Mapping[str, float]], wanted: Array, importance: Array
) -> LinearReader[Head]:
    """Return a reader with one of the heads for each column of `wanted`, its weights as whole numbers of one byte."""
    hashes, rarity = _known(features)
    rows = [known_features(one, hashes, rarity) for one in features]
    columns, steps, biases = [], [], []
    for head in range(len(heads)):
        used = np.flatnonzero(importance[:, head])
        sparse = Sparse([rows[index] for index in used], len(hashes))
        weights, bias = fit_logistic(sparse, wanted[used, head], importance[used, head], PENALTY)
        step = max(float(np.abs(weights).max()), 1e-9) / FINEST
        columns.append(np.round(weights / step).astype(np.int8))
        steps.append(step)
        biases.append(bias)
    return LinearReader(
        heads, hashes, rarity, np.stack(columns, axis=1), np.array(steps, np.float32), np.array(biases, np.float32)
    )


def _known(features: Sequence[Mapping[str, float]]):
    seen = Counter(hash_of(name) for one in features for name in one)
    kept = sorted(number for number, count in seen.items() if count >= SEEN_AT_LEAST)
    rarity = [np.log(len(features) / seen[number]) for number in kept]
    return np.array(kept, np.uint32), np.array(rarity, np.float16)
