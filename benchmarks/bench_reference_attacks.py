"""LiRA and RMIA with few and with many reference models on real tables.

Run with ``python benchmarks/bench_reference_attacks.py [--adult PATH] [--rows 8000] [--seeds 3]``.

Every table is halved into members and non-members; the audited model and 32 references are
perceptrons with 128 hidden units (torch), trained alike. All records are judged. Published means
over seven bundled tables are printed beside; the tables here are those that are installed, so they
can be compared in kind only.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from real_tables import load_tables

from tapas.attacks import RMIA, CalibratedLossMIA, LiRA, LossMIA
from tapas.models import TorchMLPTrainer
from tapas.threat_models import ModelMIA

COUNTS = (4, 32)
ATTACKS = {
    "LOSS": LossMIA,
    "calibrated": CalibratedLossMIA,
    "LiRA fixed": lambda: LiRA(variance="pooled"),
    "LiRA per record": lambda: LiRA(variance="per-record"),
    "LiRA shrunk": lambda: LiRA(variance="shrunk"),
    "LiRA offline": lambda: LiRA("offline"),
    "RMIA online": RMIA,
    "RMIA offline a=.6": lambda: RMIA("offline", a=0.6),
    "RMIA offline tuned": lambda: RMIA("offline"),
}
PUBLISHED = {
    (4, "LOSS"): ".610/0.2",
    (4, "LiRA fixed"): ".644/1.8",
    (4, "LiRA per record"): ".589/0.15",
    (4, "LiRA shrunk"): ".645/2.0",
    (4, "RMIA online"): ".699/2.1",
    (4, "RMIA offline a=.6"): ".670/2.3",
    (32, "LOSS"): ".610/0.2",
    (32, "LiRA fixed"): ".687/3.1",
    (32, "LiRA per record"): ".688/2.6",
    (32, "LiRA shrunk"): ".691/4.0",
    (32, "RMIA online"): ".705/2.8",
    (32, "RMIA offline a=.6"): ".679/3.9",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--adult")
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    options = parser.parse_args()
    trainer = TorchMLPTrainer(epochs=options.epochs, device="cpu")
    found: dict[tuple, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    tables = load_tables(options.adult)
    for table in tables:
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            members, others = table.limited(options.rows, rng).halves(rng)
            start = time.process_time()
            model = trainer.train(members.X, members.y, rng=rng)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # real tables hold equal records
                threat_model = ModelMIA(
                    model,
                    members,
                    others,
                    known_share=0,
                    trainer=trainer,
                    num_shadows=max(COUNTS),
                    seed=seed,
                    n_jobs=1,
                )
            _ = threat_model.shadow_models
            seconds = time.process_time() - start
            if seed == 0:
                gap = model.predict(members.X) == members.y, model.predict(others.X) == others.y
                print(
                    f"{table.name:14s} {len(members):5d} members, accuracy {gap[0].mean():.3f} / "
                    f"{gap[1].mean():.3f}, training {seconds:.0f} CPU s",
                    flush=True,
                )
            for count in COUNTS:
                for name, make in ATTACKS.items():
                    attack = make()
                    attack.train(threat_model, num_samples=count)
                    summary = threat_model.test(attack)
                    point = summary.tpr_at_fpr(0.001).tpr
                    found[count, name][table.name].append((summary.auc, point))
    names = [table.name for table in tables]
    for count in COUNTS:
        print(f"\n{count} references: AUC / TPR at 0.1 % FPR in %")
        print(f"{'':20s}" + "".join(f"{name:>15s}" for name in [*names, "mean", "published"]))
        for name in ATTACKS:
            means = [np.mean(found[count, name][table], axis=0) for table in names]
            cells = [f"{auc:.3f}/{100 * tpr:.1f}" for auc, tpr in [*means, np.mean(means, axis=0)]]
            cells.append(PUBLISHED.get((count, name), ""))
            print(f"{name:20s}" + "".join(f"{cell:>15s}" for cell in cells))


if __name__ == "__main__":
    main()
