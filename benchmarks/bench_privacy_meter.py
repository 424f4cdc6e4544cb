"""Reference attacks beside Privacy Meter's, on the same answers of the same models.

Run with ``python benchmarks/bench_privacy_meter.py PYTHON [--adult PATH] [--counts 4 16 64]
[--seed 0] [--keep FOLDER]``, where PYTHON is the interpreter of an environment with Privacy Meter
(``pip install privacy-meter opacus scikit-learn tensorflow-cpu``). Targets and reference models are
those of ``bench_sacro.py``. Privacy Meter's shadow metric is given the loss under all reference
models; its reference metric that under those trained without the record, as it is meant, with each
of its tests and both of its signals. It guesses at a list of error rates: at how many of them a
record is called a member is its score. AUC / TPR at 1 % false positives in % with 95 % intervals.
"""

from same_answers import compare

THEIRS = """
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
from privacy_meter import hypothesis_test
from privacy_meter.dataset import Dataset
from privacy_meter.information_source import InformationSource
from privacy_meter.information_source_signal import ModelLoss, ModelNegativeRescaledLogits
from privacy_meter.metric import ReferenceMetric, ShadowMetric
from privacy_meter.model import Model


class Told(Model):
    # Inputs are numbers of records, whose probabilities are known.
    get_logits = get_grad = get_intermediate_outputs = None

    def __init__(self, true, others):
        self.true, self.others = np.log(true + 1e-45), np.log(others + 1e-45)

    def get_loss(self, records, labels, per_point=True):
        return -self.true[records]

    def get_rescaled_logits(self, records, labels):
        return self.true[records] - self.others[records]


def splits(members):
    records = {"train": np.flatnonzero(members), "test": np.flatnonzero(~members)}
    parts = {name: {"x": rows, "y": rows} for name, rows in records.items()}
    return Dataset(parts, default_input="x", default_output="y")


given = np.load(sys.argv[1])
members, inside = given["members"], given["inside"]
judged = splits(members)
audited = InformationSource([Told(given["audited"], given["others_audited"])], [judged])
pairs = list(zip(given["said"], given["others_said"]))
shadows = InformationSource([Told(*pair) for pair in pairs], [splits(row) for row in inside])
# Each record is outside half of the models: its first such model, its second, and so on.
order = np.argsort(inside, axis=0, kind="stable")[: len(inside) // 2]
assert not np.take_along_axis(inside, order, axis=0).any()
without = [np.take_along_axis(given[part], order, axis=0) for part in ("said", "others_said")]
references = InformationSource([Told(*pair) for pair in zip(*without)], [judged])

rates = np.logspace(-15, 0, 150)
rates = np.unique(np.concatenate([[0.0], rates, 1 - rates, np.linspace(0, 1, 101)]))


def by_shadows():
    return ShadowMetric(audited, shadows, [ModelLoss()], None), lambda it: it.predictions_proba


def by_references(signal, test):
    test = getattr(hypothesis_test, test + "_threshold_func")
    metric = ReferenceMetric(audited, references, [signal], test)
    return metric, lambda results: results[0].predicted_labels.sum(axis=0)


ways = {"shadow, loss": by_shadows()}
for test in ("linear_itp", "gaussian", "logit_rescale", "min_linear_logit"):
    ways[f"reference, loss, {test}"] = by_references(ModelLoss(), test)
for test in ("linear_itp", "gaussian"):
    ways[f"reference, logits, {test}"] = by_references(ModelNegativeRescaledLogits(), test)

found = {}
for name, (metric, scores_of) in ways.items():
    start = time.process_time()
    metric.prepare_metric()
    scores = np.empty(len(members))
    ordered = np.concatenate([np.flatnonzero(members), np.flatnonzero(~members)])
    scores[ordered] = scores_of(metric.run_metric(rates))
    found[name] = {"seconds": time.process_time() - start, "scores": scores.tolist()}
print(json.dumps(found))
"""

if __name__ == "__main__":
    compare("Privacy Meter", THEIRS)
