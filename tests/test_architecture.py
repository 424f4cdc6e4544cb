"""The shape of the package: who imports whom, what is public, what never appears in it."""

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tapas

SOURCE = Path(tapas.__file__).parent
LINES = (
    {"errors", "_random", "_ranks", "_validate", "_spec", "_files", "_provenance"},
    {"datasets", "metrics", "stats", "engine"},
    {"generators", "models"},
    {"game"},
    {"results"},
    {"compat"},
    {"attacks", "threat_models"},
    {"audit", "report"},
    {"cli", "testing"},
)
LINE_OF = {room: line for line, rooms in enumerate(LINES) for room in rooms}
HEAVY = ("pandas", "sklearn", "matplotlib", "scipy", "torch", "dask", "rich")

PUBLIC = {
    "datasets": """MISSING_CODE Column DataDescription Dataset DescribedFiles EncodedTable
        RandomSource Reading TableFile TabularDataset TabularRecord choices_from_words
        agreed_words columns_alike count_holders create_canary
        describe_files load_sample locate most_isolated most_rare
        nearest_row pack_table
        rare_combinations read_file read_frame read_schema_beside read_table read_together
        record_isolation record_rarity refuse_unknown_index select_vulnerable_records
        shared_description unpack_table write_table""",
    "engine": """FAILURES AdamW Ahead CodeExitError Elsewhere Entry FolderStore LostError
        MemoryStore Progress Silent Snapshot Store TaskFailedError TimeLimitError Workers
        code_of damaged_entries end_family end_workers guarded interruptible log_failure
        off_the_clock open_progress repeat_step run_tasks salvage size_sent tell_limits told
        torch_device""",
    "generators": """BayesianNetwork Bootstrap CTGANGenerator CartSynthesizer GaussianCopula
        Generator GeneratorFromClass GeneratorFromExecutable GeneratorFromFunction
        GeneratorFromObject IndependentMarginals MST MarginalSelection NoisyMarginals PrivBayes
        Raw ReprosynGenerator SDVGenerator SelectsMarginals SmartNoiseGenerator Smote
        StackedGenerator TableDiffusion TableVAE discrete_laplace""",
    "audit": """Audit AuditFile CheckReport Forecast ReplayedTrial StopEarly Subject
        audit_file_schema audit_from_values build_audit judge_file load_audit read_audit_file
        usable_names repair_run replay_run verify_run""",
    "testing": """BrokenPromiseError DomainFromData FloatingPointLaplace GaussianCount
        GeneratorCheck KnownEvent KnownMechanism LaplaceCount NoiseDividedByRows NoisyHistogram
        OffByOneBudget OnePartitionForEveryTeacher RandomizedResponse SizeLeak WrongSensitivity
        check_attack check_game check_generator check_model check_store check_trainer
        every_attack generator_checks worst_case""",
    "metrics": """ConfusionCounts CountedOutcomes OperatingPoint Outcomes RocCurve ValueRates
        accuracy auc balanced_accuracy column_aucs confusion_counts effective_epsilon
        effective_epsilon_from_rates false_positive_rate inference_advantage
        inference_privacy_gain macro_auc mia_advantage precision privacy_gain recall
        roc_curve tpr_at_fpr true_positive_rate value_rates""",
    "results": """ALL_METRICS CONFIDENCE DEFAULT_METRICS FAILURES FEWEST_PEOPLE GATE_METRICS
        LEAKY_CONTROL LOW_FPR MEASURES MOST_RECORDS PAGE_FILES SAFE_CONTROL SUBGROUP
        UNFIT_SPLIT VALUE unfit_splits unseen_inputs
        AIAttackSummary AttackCrash AttackSummary AuditRecord AuditedSubject
        BinaryAIAttackSummary BinaryLabelInferenceAttackSummary Change Claim ClaimOutcome Copies
        Cost
        Dependence Estimate ExposedRecords ExposureMap Finding Findings Gate GateOutcome
        JudgedRecords LabelInferenceAttackSummary LearningCurve Leaves MIAttackSummary Measure
        People PropertyShares RareColumn
        RecordComparison RunState ScoreTable ShareAnswer SharesTold SummaryFacts TrialFailure
        Verdict append_verdict shares_told
        as_plain_list beyond_reach
        compare_records compared_columns constant_scores decide drawn_values_words
        dropped_columns end_progress estimate exposed_people
        exposed_records exposure_table file_safe find_runs gate_title gates_words
        given_away given_away_words left_out_columns LeftOutColumn
        loosened_limits missing_scores most_exposed_first note_progress performance_table
        positive_predictive_value privacy_risk read_history record_facts refuse_idle risk_histogram
        FEWEST_GROUPS hardly_positive has_few_groups holds_together judge_claim judge_records leak
        look_words
        repair_history rounded rounded_area rounded_down rounded_up slice_metrics
        spreadsheet_safe strongest summary_facts with_ratio write_exposure_table
        TellingFailures leaks_beside_failures only_failures_tell telling_failures
        told_by_failures_alone""",
    "stats": """Certificate ClaimVerdict Dependence EpsilonBound Interval OperatingInterval RocBand
        SequentialEpsilon ThresholdChoice TopScores top_scores advantage_interval
        attack_epsilon_high auc_gain_interval
        auc_interval audit_claim audit_power certificate certify claim_power
        clopper_pearson column_auc_errors column_auc_limits
        epsilon_lower_bound excess_p_value gaussian_epsilon_from_mu holm least_excess look_share
        max_epsilon_lower_bound mean_auc_influences negatives_needed one_run_epsilon
        one_run_gaussian_epsilon percentile_interval rank_sum_p_values resampled_counts
        rising_limits roc_band runs_needed select_threshold shared_confidence shared_p_values
        simultaneous_upper_limits smallest_area
        smallest_leak tpr_at_fpr_interval venn_abers""",
    "threat_models": """AIALabeller AttackerKnowledgeOnData
        AttackerKnowledgeOnGenerator AttackerKnowledgeWithLabel AttributePlanting
        AuxiliaryDataKnowledge BlackBoxKnowledge Briefing CanaryMIA ExactDataKnowledge
        Goal ImportedAIA ImportedMIA LabelInferenceThreatModel MIALabeller
        MarginalSynthesis MembershipPlanting ModelAIA ModelBriefing ModelMIA
        ModelPropertyInference NoBoxKnowledge NoisyRecords ObservedAIA ObservedMIA Planting
        PredictionsMIA QuasiIdentifierKnowledge QuerySynthesis Release ShadowData TableBriefing
        TargetedAIA TargetedMIA
        ThreatModel TrainableThreatModel Trial TrialPolicy UncertainBoxKnowledge
        WhiteBoxKnowledge accepts_seed uses_documented_call run_mechanism""",
    "attacks": """DOMIAS RMIA Attack BlackBoxMIA CalibratedLossMIA CertaintyMIA ClosestDistanceAIA
        ClosestDistanceMIA CombinedSetFeatures ConfidenceAIA ConfidenceMIA
        CorrSetFeature DensityEstimator DistanceMetric EnsembleAttack EntropyMIA
        FeatureBasedSetClassifier GenLRA GroundhogAttack HammingDistance HistSetFeature
        ImputationAIA InferenceAttack LabelOnlyAIA LabelOnlyMIA LiRA LikelihoodAttack
        LinkabilityAttack LocalNeighbourhoodAttack ReconstructionAttack RecordEnsembleAttack
        SinglingOutAttack
        LocalNeighboursWithReference LossMIA LpDistance MarginalsAttack MixedDistance
        ModifiedEntropyMIA
        NaiveSetFeature NearnessAttack ProbabilityEstimationAttack PropertyClassifier QuantileMIA
        QueryAttack RandomTargetedQueryFeature RehearsedMIA RuleBasedMIA SetClassifier SetFeature
        ShadowModellingAttack StadlerNaiveSetFeature SubsetAttack SyntheticPredictorAttack
        TrainableThresholdAttack TreeMIA WhiteBoxPropertyClassifier confidence_without
        nearest_record_diagnostics sklearnDensityEstimator""",
    "report": """ALL_METRICS DEFAULT_METRICS AIAttackReport AIAttackSummary AttackSummary AuditPage
        BinaryAIAttackReport BinaryAIAttackSummary BinaryLabelAttackReport
        BinaryLabelInferenceAttackSummary EffectiveEpsilonReport
        LabelInferenceAttackSummary MIAttackReport MIAttackSummary ROCReport Report Change
        ComparisonPage RecordComparison compare_records record_page run_page runs_page
        target_page""",
    "models": """FITS Access AccessError BoosterModel CallableModel CallableTrainer Classifier
        DecisionTree DecisionTrees EncodedModel Form Inputs Listing MLPModel Model OneHotInputs
        OnnxModel QueryBudgetError RecordEncoding RecordedModel RecordedModels Records
        ReformedModel ReformedTrainer RemoteModel ResidualModel ResidualTrainer ShapedTrainer
        Shown ShownModel ShownTrainer SklearnModel SklearnTrainer TorchMLPTrainer TorchModel
        TorchTrainer Trainer TrainingPlan TrainingSets as_labels as_model classes_of_several
        decision_trees distinct_labels
        is_sparse is_texts log_odds_by own_models parameter_summary predicts_numbers
        records_from_table with_targets
        RegressorFile RegressorTrainer encoded_trainer""",
    "game": """MEMBERSHIP PHASES PROPERTY Address Attack Board Briefing Candidates
        Compared CountsRightGuesses DrawsValues Game Goal Judgement Kind LearnsEach Ledger
        MethodObserver ModelBriefing
        Needs Observation Observer Phase Player PlaysConcurrently Relation Release Samples
        Scorer Setting StoredLedger TableBriefing TargetedScorer TellsLikelihood TellsMembers
        TellsSecrets Trial TrialPolicy Value
        ValueObserver as_array compare_sides draw_values fit_scorer judge learning_parts
        refuse_unfit run_coroutine scorer_about split_coins split_sides unfit""",
    "compat": """AttackDoors AttackLike GameThreatModel TargetViews ThreatModel
        TrainableThreatModel Trained as_attack earlier_scorer hinted_by_failures
        judged_by_failures needs_of told_by_failures with_failures
        without_failures""",
}  # fmt: skip

OLD_PATHS = {
    "datasets.canary": "create_canary",
    "datasets.data_description": "DataDescription",
    "datasets.dataset": "TabularDataset _parse_csv validate_header",
    "datasets.record": "TabularRecord",
    "datasets.utils": "encode_data one_hot index_split get_dtype get_num_features",
    "generators.generator": "Generator Raw GeneratorFromExecutable ReprosynGeneratorFromCLI",
    "threat_models.aia": "AIALabeller TargetedAIA",
    "threat_models.mia": "MIALabeller TargetedMIA",
    "threat_models.attacker_knowledge": "SilentIterator BlackBoxKnowledge",
    "threat_models.base_classes": "ThreatModel TrainableThreatModel",
    "attacks.base_classes": "Attack TrainableThresholdAttack",
    "report.attack_summary": "AttackSummary BinaryLabelInferenceAttackSummary",
    "report.report": "Report",
    "report.utils": "plot_roc_curve metric_comparison_plots set_style",
}


def _files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _room(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def _imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level
            elif node.module == "tapas":
                yield from ((node.lineno, f"tapas.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def _tapas_imports(path: Path) -> list[tuple[int, str]]:
    return [
        (line, name.split(".")[1])
        for line, name in _imported(path)
        if name.startswith("tapas.") and name.split(".")[1] != "__version__"
    ]


def test_every_room_has_a_line() -> None:
    rooms = {_room(path) for path in _files()} - {"__init__", "__main__"}
    assert rooms <= set(LINE_OF)


@pytest.mark.parametrize("path", _files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_rooms_import_downwards_only(path: Path) -> None:
    own = _room(path)
    if own in ("__init__", "__main__"):
        return
    for line, room in _tapas_imports(path):
        allowed = room == own or room in LINES[0] or LINE_OF[room] < LINE_OF[own]
        assert allowed, f"{path.name}:{line}: {own} may not import {room}"


def test_no_room_imports_what_another_keeps_to_itself() -> None:
    private = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in _files()
        for line, name in _imported(path)
        if name.startswith("tapas.")
        and name.split(".")[1] not in {_room(path), *LINES[0]}
        and any(part.startswith("_") for part in name.split(".")[2:])
    ]
    assert private == []


@pytest.mark.parametrize("part", ["tables", "features", "models"])
def test_parts_of_the_attack_library_do_not_import_each_other(part: str) -> None:
    others = {f"tapas.attacks.{other}" for other in ("tables", "features", "models")}
    others.discard(f"tapas.attacks.{part}")
    met = [
        f"{path.name}:{line}: {name}"
        for path in (SOURCE / "attacks" / part).glob("*.py")
        for line, name in _imported(path)
        if ".".join(name.split(".")[:3]) in others
    ]
    assert met == []


JOINT = {"attack", "attacks", "game", "briefing", "board", "model", "release", "threat_model"}


def test_nothing_at_the_joint_is_of_any_type() -> None:
    loose = [
        f"{path.relative_to(SOURCE)}:{argument.lineno}: {argument.arg}"
        for path in _files()
        for argument in _arguments(path)
        if argument.arg in JOINT and ast.unparse(argument.annotation or ast.Constant("")) == "Any"
    ]
    assert loose == []


def test_few_arguments_are_of_any_type() -> None:
    arguments = [argument for path in _files() for argument in _arguments(path)]
    loose = [a for a in arguments if a.annotation and ast.unparse(a.annotation) == "Any"]
    assert len(loose) < 0.03 * len(arguments)


def test_what_an_object_has_is_hardly_ever_asked_by_name() -> None:
    asked = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in _files()
        if path.relative_to(SOURCE).parts[0] in ("threat_models", "audit")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr")
    ]
    assert len(asked) <= 12, asked


def _arguments(path: Path) -> Iterator[ast.arg]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            yield from (a for a in every if a is not None and a.arg not in ("self", "cls"))


def test_imports_are_absolute() -> None:
    relative = [
        f"{path}:{line}"
        for path in _files()
        for line, name in _imported(path)
        if name.startswith(".")
    ]
    assert relative == []


def test_reports_see_no_attack_and_no_threat_model() -> None:
    seen = {room for path in (SOURCE / "report").glob("*.py") for _, room in _tapas_imports(path)}
    assert not seen & {"attacks", "threat_models", "generators", "models", "game", "compat"}


def test_statistics_need_numpy_and_scipy_only() -> None:
    allowed = {"numpy", "scipy", "tapas"} | set(sys.stdlib_module_names)
    packages = {
        name.split(".")[0]
        for path in (SOURCE / "stats").glob("*.py")
        for _, name in _imported(path)
    }
    assert packages <= allowed


def test_engine_knows_nothing_of_privacy() -> None:
    seen = {room for path in (SOURCE / "engine").glob("*.py") for _, room in _tapas_imports(path)}
    assert seen <= {"engine"} | LINES[0]


def test_importing_tapas_loads_nothing_heavy() -> None:
    code = (
        "import sys, tapas; dir(tapas); tapas.__version__; "
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]; "
        "sys.exit(', '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_rooms_loads_only_what_all_of_them_need() -> None:
    rooms = ", ".join(f"tapas.{room}" for line in LINES[1:-1] for room in sorted(line))
    late = ("matplotlib", "torch", "dask", "sklearn", "scipy.special", "scipy.optimize", "asyncio")
    code = (
        f"import sys, {rooms}; tapas.generators.Raw(); tapas.attacks.GroundhogAttack(); "
        f"loaded = [name for name in {late!r} if name in sys.modules]; "
        "sys.exit(', '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rooms_are_attributes_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tapas.nonsense
    assert tapas.Attack is importlib.import_module("tapas.attacks").Attack


def _sorting_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as the linter sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("room", PUBLIC)
def test_a_rooms_public_list_is_the_expected_one(room: str) -> None:
    module = importlib.import_module(f"tapas.{room}")
    public = list(module.__all__)
    assert set(public) == set(PUBLIC[room].split())
    assert public == sorted(public, key=_sorting_key)
    for name in public:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("room", PUBLIC)
def test_public_things_are_documented(room: str) -> None:
    module = importlib.import_module(f"tapas.{room}")
    things = [getattr(module, name) for name in module.__all__]
    written = [thing for thing in things if inspect.isclass(thing) or inspect.isfunction(thing)]
    own = [thing for thing in written if thing.__module__.startswith("tapas")]
    bare = [thing.__name__ for thing in own if not thing.__doc__]
    assert bare == []


def test_public_lists_of_other_files_are_importable() -> None:
    for name in ("tapas", "tapas.errors"):
        module = importlib.import_module(name)
        assert all(hasattr(module, public) for public in module.__all__)
        assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("path", OLD_PATHS)
def test_earlier_import_paths_still_work(path: str) -> None:
    module = importlib.import_module(f"tapas.{path}")
    for name in OLD_PATHS[path].split():
        assert hasattr(module, name), name


def _calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def _problems(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"{path}:{node.lineno}: assert"
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if ast.unparse(raised) in ("Exception", "BaseException", "NotImplementedError"):
                yield f"{path}:{node.lineno}: raises {ast.unparse(raised)}"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"{path}:{node.lineno}: bare except"
        allows = isinstance(node, ast.keyword) and node.arg == "allow_pickle"
        if allows and ast.unparse(node.value) != "False":
            yield f"{path}:{node.value.lineno}: allow_pickle"
    modern = {"default_rng", "SeedSequence", "Generator", "RandomState"}
    for line, name in _calls(tree):
        if name == "print" and "cli" not in path.parts:
            yield f"{path}:{line}: print"
        if name in ("pickle.load", "pickle.loads", "eval", "exec", "joblib.load"):
            yield f"{path}:{line}: {name}"
        parts = name.split(".")
        legacy = parts[:2] in (["np", "random"], ["numpy", "random"]) and parts[-1] not in modern
        if legacy and path.name != "_random.py":
            yield f"{path}:{line}: {name} draws from a global generator"
    for word in ("TODO", "FIXME", "XXX"):
        if word in text:
            yield f"{path}: {word}"


def test_forbidden_things_do_not_occur() -> None:
    assert [problem for path in _files() for problem in _problems(path)] == []


def test_no_file_is_a_cupboard() -> None:
    aliases = {"datasets/utils.py", "report/utils.py"}
    cupboards = {"utils", "helpers", "common", "misc"}
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in _files()
        if path.stem.strip("_") in cupboards
    }
    assert found <= aliases


def test_every_error_is_a_tapas_error_and_the_builtin_that_scripts_catch() -> None:
    from tapas import errors

    builtins = {
        "SchemaError": (ValueError, AssertionError),
        "RecordError": (ValueError, AssertionError, IndexError),
        "KnowledgeError": (ValueError, AssertionError),
        "ThreatModelError": (ValueError, AssertionError),
        "IncompatibleAttackError": (ValueError, AssertionError),
        "NotTrainedError": (RuntimeError, AssertionError),
        "MechanismError": (RuntimeError,),
        "StoreError": (OSError,),
        "ConfigError": (ValueError, AssertionError),
        "StatisticsError": (ValueError,),
    }
    for name, bases in builtins.items():
        assert issubclass(getattr(errors, name), (errors.TapasError,))
        assert all(issubclass(getattr(errors, name), base) for base in bases)
    for name in errors.__all__:
        thing = getattr(errors, name)
        assert issubclass(thing, (errors.TapasError, errors.TapasWarning))
        assert name in (errors.__doc__ or "") or issubclass(thing, Warning)
