import numpy as np

from tapas.datasets import load_sample
from tapas.generators._bootstrap import Bootstrap


def test_every_record_is_a_private_record():
    data = load_sample("clinic", rows=120)
    release = Bootstrap().fit(data).generate(300, random_state=0)
    assert (data.table.count_differences(release.table).min(axis=1) == 0).all()


def test_a_record_is_absent_with_probability_one_over_e():
    data = load_sample("clinic", rows=200)  # no two rows alike
    fitted = Bootstrap().fit(data)
    absent = [
        1 - len(np.unique(fitted.generate(200, random_state=seed).table.numbers[:, 1])) / 200
        for seed in range(40)
    ]
    distinct = len(np.unique(data.table.numbers[:, 1])) / 200
    assert abs(1 - np.mean(absent) - distinct * (1 - np.exp(-1))) < 0.03


def test_the_fitted_state_is_the_data():
    data = load_sample("census", rows=10)
    assert Bootstrap().fit(data).records_.same_values(data.table)
