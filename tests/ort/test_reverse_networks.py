"""Networks in bfloat16, float16 and 8-bit arithmetic run in an unmodified ORT with the EP, as float32 ones do."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto
from reverse_session import run, session, taken
from small_networks import classifier, classifier_feed, encoder, encoder_feed

BFLOAT16, FLOAT16, FLOAT = TensorProto.BFLOAT16, TensorProto.FLOAT16, TensorProto.FLOAT
NAMES = {BFLOAT16: "bfloat16", FLOAT16: "float16"}

#: Distance from float32's result, relative to the largest number: some rounding steps of the type (2^-8 and 2^-11).
ROUNDING = {BFLOAT16: 6 * 2**-8, FLOAT16: 6 * 2**-11}


def distance(actual: Any, expected: Any) -> float:
    actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("network", [encoder, classifier])
def test_a_bfloat16_network_does_not_load_without_the_provider(network: Any) -> None:
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented):
        session(network(BFLOAT16), None)


@pytest.mark.parametrize(("element", "claim"), [(BFLOAT16, "missing"), (BFLOAT16, "all"), (FLOAT16, "all")])
def test_an_encoder_of_16_bits_matches_float32(element: int, claim: str) -> None:
    model = encoder(element)
    made, reference = session(model, claim), session(encoder(FLOAT), None)
    assert len(taken(made)) > 40
    for batch, tokens in ((1, 7), (3, 12), (2, 1), (3, 12)):
        feed = encoder_feed(batch, tokens, seed=batch)
        actual = run(made, feed)[0]
        assert actual.dtype.name == NAMES[element]
        assert distance(actual, run(reference, feed)[0]) < ROUNDING[element]


@pytest.mark.parametrize(("element", "claim"), [(BFLOAT16, "missing"), (BFLOAT16, "all"), (FLOAT16, "all")])
def test_a_convolutional_network_of_16_bits_matches_float32(element: int, claim: str) -> None:
    made, reference = session(classifier(element), claim), session(classifier(FLOAT), None)
    assert len(taken(made)) > 10
    for batch, size in ((2, 16), (1, 9), (2, 16)):
        feed = classifier_feed(batch, size, element)
        expected = run(reference, {"image": feed["image"].astype(np.float32)})[0]
        actual = run(made, feed)[0]
        assert actual.dtype.name == NAMES[element]
        np.testing.assert_allclose(actual.astype(np.float32).sum(axis=1), 1, rtol=ROUNDING[element] * 2)
        assert distance(actual, expected) < ROUNDING[element]


def test_an_encoder_in_8_bit_arithmetic_matches_float32_and_ort() -> None:
    model = encoder(FLOAT, integer=True)
    made, alone, reference = session(model, "all"), session(model, None), session(encoder(FLOAT), None)
    assert taken(made).count("MatMulInteger") == 12
    feed = encoder_feed(3, 11)
    actual = run(made, feed)[0]
    assert distance(actual, run(alone, feed)[0]) < 1e-2
    assert distance(actual, run(reference, feed)[0]) < 12 / 127


@pytest.mark.parametrize("claim", ["QuantizeLinear,DequantizeLinear,Conv", "all"])
def test_a_convolutional_network_in_8_bits_matches_float32_and_ort(claim: str) -> None:
    model = classifier(FLOAT, integer=True)
    made, alone, reference = session(model, claim), session(model, None), session(classifier(FLOAT), None)
    assert {"QuantizeLinear", "DequantizeLinear"} <= set(taken(made))
    feed = classifier_feed(2, 16, FLOAT)
    actual = run(made, feed)[0]
    assert distance(actual, run(alone, feed)[0]) < 2e-2
    assert distance(actual, run(reference, feed)[0]) < 12 / 127
