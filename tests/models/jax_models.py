"""Functions of JAX and networks of Keras through the same audit, in a process of their own.

JAX starts threads that stay, and the commands that other tests run must fork.
"""

import jax
import numpy as np
import pytest
from test_records_of_every_kind import INSIDE, X, Y, found

from tapas.attacks import RMIA, LossMIA
from tapas.models import CallableTrainer, as_model

pytestmark = pytest.mark.usefixtures("no_baseline")


def test_networks_of_keras_are_models_of_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    import keras

    images = X[:, :4].reshape(-1, 1, 2, 2).astype(np.float32)

    def trained(images: np.ndarray, y: np.ndarray, seed: int) -> object:
        keras.utils.set_random_seed(seed)
        layers = [keras.layers.Dense(64, "relu"), keras.layers.Dense(2, "softmax")]
        network = keras.Sequential([keras.layers.Flatten(), *layers])
        network.compile(keras.optimizers.Adam(0.03), "sparse_categorical_crossentropy")
        network.fit(images, y, epochs=60, verbose=0)
        return network

    network = trained(images[INSIDE], Y[INSIDE], 0)
    asked = as_model(network, [0, 1])
    assert found(asked, images, Y, LossMIA()) > 0.5
    trainer = CallableTrainer(lambda *given: as_model(trained(*given), [0, 1]))
    assert found(asked, images, Y, RMIA(), trainer=trainer, num_shadows=4) > 0.6


def test_functions_of_jax_are_models() -> None:
    weights = jax.numpy.asarray(np.random.default_rng(0).normal(size=(5, 2)))
    asked = jax.jit(lambda rows: jax.nn.softmax(rows @ weights))
    twin = as_model(lambda rows: np.asarray(asked(rows)), [0, 1])
    taken = jax.numpy.asarray(X)
    assert found(as_model(asked, [0, 1]), taken, Y, LossMIA()) == pytest.approx(
        found(twin, X.astype(np.float32), Y, LossMIA())
    )
