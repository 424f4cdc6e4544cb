"""ONNX files as models."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from tapas.attacks import LossMIA
from tapas.errors import ConfigError, SchemaError
from tapas.models import Access, AccessError, Form, as_model
from tapas.threat_models import ModelMIA

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
onnx = pytest.importorskip("onnx", reason="onnx, which writes the test files, is not installed")
helper, TensorProto = onnx.helper, onnx.TensorProto

X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)


@pytest.fixture
def logistic():
    return LogisticRegression().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))


def _save(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "model", inputs, outputs, list(constants))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)
    return path


def _linear_file(path, estimator, *, last="Softmax", width=4):
    weights = estimator.coef_.T.astype(np.float32)
    biases = estimator.intercept_.astype(np.float32)
    constants = [
        onnx.numpy_helper.from_array(weights, "w"),
        onnx.numpy_helper.from_array(biases, "b"),
    ]
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["z"])]
    if last:
        nodes.append(helper.make_node(last, ["z"], ["y"]))
    output = helper.make_tensor_value_info("y" if last else "z", TensorProto.FLOAT, [None, None])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, width])]
    return _save(path, nodes, inputs, [output], constants)


def _classifier_file(path, estimator, names, *, dictionaries):
    """What converters of scikit-learn models write: a label, and probabilities by class."""
    classifier = helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "raw"],
        domain="ai.onnx.ml",
        coefficients=estimator.coef_.ravel().astype(float).tolist(),
        intercepts=estimator.intercept_.astype(float).tolist(),
        classlabels_strings=names,
        multi_class=1,
        post_transform="SOFTMAX",
    )
    nodes = [classifier]
    outputs = [helper.make_tensor_value_info("label", TensorProto.STRING, [None])]
    if dictionaries:
        nodes.append(
            helper.make_node(
                "ZipMap", ["raw"], ["probabilities"], domain="ai.onnx.ml", classlabels_strings=names
            )
        )
        value = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        kind = helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.STRING, value)
        )
        outputs.append(helper.make_value_info("probabilities", kind))
    else:
        outputs.append(helper.make_tensor_value_info("raw", TensorProto.FLOAT, [None, len(names)]))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])]
    return _save(path, nodes, inputs, outputs)


@pytest.mark.parametrize("last", ["Softmax", None])
def test_a_network_of_probabilities_or_logits_answers_as_its_source(tmp_path, logistic, last):
    model = as_model(_linear_file(tmp_path / "net.onnx", logistic, last=last), batch_size=11)
    np.testing.assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=1e-5)
    assert (model.predict(X) == logistic.predict(X)).all()
    assert model.classes.tolist() == [0, 1, 2]
    assert model.label == "net.onnx"


def test_dictionaries_of_probabilities_name_the_classes(tmp_path, logistic):
    names = ["low", "mid", "top"]
    path = _classifier_file(tmp_path / "d.onnx", logistic, names, dictionaries=True)
    model = as_model(str(path))
    assert model.classes.tolist() == names
    np.testing.assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=1e-5)
    assert (model.predict(X) == np.array(names)[logistic.predict(X)]).all()


def test_classes_are_read_from_the_file_or_must_be_given(tmp_path, logistic, monkeypatch):
    names = ["low", "mid", "top"]
    path = _classifier_file(tmp_path / "t.onnx", logistic, names, dictionaries=False)
    assert as_model(path).classes.tolist() == names
    monkeypatch.setattr("tapas.models._onnx._written_classes", lambda content: None)
    with pytest.raises(ConfigError, match="does not say what its classes are"):
        as_model(path)
    model = as_model(path, names)
    np.testing.assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=1e-5)


def test_dictionaries_name_the_classes_without_the_onnx_package(tmp_path, logistic, monkeypatch):
    names = ["low", "mid", "top"]
    path = _classifier_file(tmp_path / "d.onnx", logistic, names, dictionaries=True)
    monkeypatch.setattr("tapas.models._onnx._written_classes", lambda content: None)
    assert as_model(path).classes.tolist() == names


def test_a_converted_forest_keeps_its_probabilities(tmp_path):
    convert = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed").to_onnx
    y = np.where(X[:, 0] > 0, "yes", "no")
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    for number, options in enumerate((None, {id(forest): {"zipmap": False}})):
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(convert(forest, X[:1], options=options).SerializeToString())
        model = as_model(path)
        assert model.classes.tolist() == ["no", "yes"]
        np.testing.assert_allclose(model.predict_proba(X), forest.predict_proba(X), atol=1e-6)


def test_one_input_per_column_takes_frames_by_name(tmp_path):
    def column(name, kind):
        return helper.make_tensor_value_info(name, kind, [None, 1])

    constants = [
        onnx.numpy_helper.from_array(np.array(["york"], dtype=object), "york"),
        onnx.numpy_helper.from_array(np.array([0.25], dtype=np.float32), "quarter"),
        onnx.numpy_helper.from_array(np.array([0.5], dtype=np.float32), "half"),
    ]
    nodes = [
        helper.make_node(
            "LabelEncoder",
            ["town"],
            ["is_york"],
            domain="ai.onnx.ml",
            keys_strings=["york"],
            values_floats=[1.0],
            default_float=0.0,
        ),
        helper.make_node("Mul", ["is_york", "half"], ["a"]),
        helper.make_node("Mul", ["size", "quarter"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["p"]),
    ]
    path = _save(
        tmp_path / "columns.onnx",
        nodes,
        [column("town", TensorProto.STRING), column("size", TensorProto.FLOAT)],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, [None, 1])],
        constants[1:],
    )
    frame = pd.DataFrame({"size": [0.0, 1.0, 2.0], "town": ["york", "hull", None]})
    model = as_model(path, ["no", "yes"], outputs="scores")
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1], [0.5, 0.25, 0.5])
    with pytest.raises(SchemaError, match="takes 2 columns, X has 1"):
        model.predict_proba(frame[["size"]])


def test_a_file_without_probabilities_shows_labels_only(tmp_path):
    nodes = [
        helper.make_node("ArgMax", ["x"], ["label"], axis=1, keepdims=0),
    ]
    path = _save(
        tmp_path / "labels.onnx",
        nodes,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("label", TensorProto.INT64, [None])],
    )
    model = as_model(path, [0, 1, 2, 3])
    assert model.access is Access.LABELS
    assert (model.predict(X) == X.argmax(axis=1)).all()
    with pytest.raises(AccessError):
        model.predict_proba(X)


def test_a_model_travels_to_another_process_with_its_file(tmp_path, logistic):
    path = _linear_file(tmp_path / "net.onnx", logistic)
    model = as_model(path)
    path.unlink()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_rows_of_another_width_than_the_file_takes_are_refused_with_the_remedy(tmp_path, logistic):
    model = as_model(_linear_file(tmp_path / "m.onnx", logistic))
    with pytest.raises(SchemaError, match=r"takes 4 numbers .* given 5.*data\.schema"):
        model.predict_proba(np.zeros((3, 5)))


def test_unusable_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"must be an \.onnx file"):
        as_model(tmp_path / "model.pkl")
    with pytest.raises(ConfigError, match="cannot read the model file"):
        as_model(tmp_path / "absent.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    with pytest.raises(ConfigError, match="not a usable ONNX model"):
        as_model(tmp_path / "broken.onnx")


def test_images_and_several_inputs_reach_a_file_in_their_shape(tmp_path):
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [None, 1, 2, 2])
    more = helper.make_tensor_value_info("more", TensorProto.FLOAT, [None, 3])
    answer = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])
    rng = np.random.default_rng(0)
    images, numbers = rng.normal(size=(40, 1, 2, 2)), rng.normal(size=(40, 3))
    labels = rng.integers(0, 3, 40)
    sums = [
        helper.make_node("Flatten", ["image"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["z"]),
    ]
    weights = onnx.numpy_helper.from_array(rng.normal(size=(4, 3)).astype(np.float32), "w")
    alone = [*sums, helper.make_node("Softmax", ["z"], ["y"])]
    both = [
        *sums,
        helper.make_node("Add", ["z", "more"], ["a"]),
        helper.make_node("Softmax", ["a"], ["y"]),
    ]
    one = _save(tmp_path / "one.onnx", alone, [image], [answer], [weights])
    two = _save(tmp_path / "two.onnx", both, [image, more], [answer], [weights])
    flat = images.reshape(40, 4) @ onnx.numpy_helper.to_array(weights)
    for path, data, logits in (
        (one, images, flat),
        (two, (images, numbers), flat + numbers),
        (two, {"more": numbers, "image": images}, flat + numbers),
    ):
        parts = [_half(data, half) for half in (slice(0, 20), slice(20, 40))]
        model = as_model(path, [0, 1, 2])
        threat_model = ModelMIA(model, (parts[0], labels[:20]), (parts[1], labels[20:]), seed=0)
        expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        rows = Form.rows(data)
        np.testing.assert_allclose(threat_model.model.predict_proba(rows), expected, atol=1e-5)


def _half(data, half):
    if isinstance(data, dict):
        return {name: part[half] for name, part in data.items()}
    return tuple(part[half] for part in data) if isinstance(data, tuple) else data[half]


def test_a_file_that_predicts_numbers_is_audited_by_its_residuals(tmp_path):
    rng = np.random.default_rng(0)
    y = X[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(len(X), 2))
    linear = LinearRegression().fit(X[::2], y[::2])
    path = _linear_file(tmp_path / "numbers.onnx", linear, last=None)
    found = []
    for model in (path, linear):
        threat_model = ModelMIA(model, (X[::2], y[::2]), (X[1::2], y[1::2]), seed=0)
        attack = LossMIA()
        attack.train(threat_model)
        found.append(threat_model.test(attack).scores)
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)
