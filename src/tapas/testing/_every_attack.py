"""All attacks that there are, each small enough to be played in a test."""

from tapas.attacks import (
    DOMIAS,
    RMIA,
    Attack,
    BlackBoxMIA,
    CalibratedLossMIA,
    CertaintyMIA,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    ConfidenceAIA,
    ConfidenceMIA,
    EnsembleAttack,
    EntropyMIA,
    FeatureBasedSetClassifier,
    GenLRA,
    GroundhogAttack,
    ImputationAIA,
    InferenceAttack,
    LabelOnlyAIA,
    LabelOnlyMIA,
    LikelihoodAttack,
    LinkabilityAttack,
    LiRA,
    LocalNeighbourhoodAttack,
    LocalNeighboursWithReference,
    LossMIA,
    MarginalsAttack,
    ModifiedEntropyMIA,
    NaiveSetFeature,
    NearnessAttack,
    ProbabilityEstimationAttack,
    PropertyClassifier,
    QuantileMIA,
    QueryAttack,
    ReconstructionAttack,
    RecordEnsembleAttack,
    RehearsedMIA,
    RuleBasedMIA,
    ShadowModellingAttack,
    SinglingOutAttack,
    SubsetAttack,
    SyntheticPredictorAttack,
    TreeMIA,
    WhiteBoxPropertyClassifier,
)


def every_attack() -> tuple[Attack, ...]:
    """Make every attack of `tapas.attacks`, with and without training where it can do both.

    Which of them fit a game is for ``tapas.game.unfit`` to say. Labels are different.
    """
    return (*_on_tables(), *_on_models())


def _on_tables() -> tuple[Attack, ...]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KernelDensity
    from sklearn.tree import DecisionTreeClassifier

    naive = FeatureBasedSetClassifier(NaiveSetFeature(), RandomForestClassifier(20))
    return (
        ClosestDistanceMIA(label="ClosestDistanceMIA"),
        ClosestDistanceMIA(criterion=("threshold", 0), label="ClosestDistanceMIA(look-up)"),
        ClosestDistanceAIA(label="ClosestDistanceAIA"),
        ClosestDistanceAIA(criterion=("threshold", 0.5), label="ClosestDistanceAIA(nearer)"),
        LocalNeighbourhoodAttack(radius=1, label="LocalNeighbourhoodAttack"),
        LocalNeighbourhoodAttack(
            radius=1, criterion=("threshold", 0.01), label="LocalNeighbourhoodAttack(fixed)"
        ),
        LocalNeighboursWithReference(k=1, label="LocalNeighboursWithReference"),
        LocalNeighboursWithReference(
            k=1, criterion=("threshold", 0.5), label="LocalNeighboursWithReference(fixed)"
        ),
        InferenceAttack(label="Inference"),
        LinkabilityAttack(label="Linkability"),
        SinglingOutAttack(order=2, criterion="accuracy", label="SinglingOut"),
        RecordEnsembleAttack(label="RecordEnsemble"),
        GenLRA(label="GenLRA"),
        DOMIAS(label="DOMIAS"),
        DOMIAS(criterion=("threshold", 0), label="DOMIAS(fixed)"),
        ProbabilityEstimationAttack(
            KernelDensity(bandwidth=0.2), "accuracy", "ProbabilityEstimation"
        ),
        SyntheticPredictorAttack(DecisionTreeClassifier(), "accuracy", "SyntheticPredictor"),
        ReconstructionAttack(label="Reconstruction"),
        ShadowModellingAttack(naive, "ShadowModelling"),
        GroundhogAttack(model=RandomForestClassifier(20), label="Groundhog"),
        SubsetAttack(number=60, label="Subsets"),
        NearnessAttack(label="Nearness"),
        MarginalsAttack(label="Marginals"),
        QueryAttack(20, RandomForestClassifier(20), label="Queries"),
        LikelihoodAttack(label="Likelihood"),
        EnsembleAttack((SubsetAttack(number=60), NearnessAttack()), label="Ensemble"),
    )


def _on_models() -> tuple[Attack, ...]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeRegressor

    return (
        LossMIA(label="LossMIA"),
        LossMIA(("threshold", -0.5), label="LossMIA(fixed)"),
        ConfidenceMIA(label="ConfidenceMIA"),
        EntropyMIA(label="EntropyMIA"),
        ModifiedEntropyMIA(label="ModifiedEntropyMIA"),
        RuleBasedMIA(label="RuleBasedMIA"),
        BlackBoxMIA("lr", label="BlackBoxMIA"),
        QuantileMIA(DecisionTreeRegressor(min_samples_leaf=5), label="QuantileMIA"),
        LabelOnlyMIA("noise", max_queries=13, label="LabelOnlyMIA(noise)"),
        LabelOnlyMIA("boundary", max_queries=20, calibrate=False, label="LabelOnlyMIA(boundary)"),
        CalibratedLossMIA(label="CalibratedLossMIA"),
        LiRA(label="LiRA"),
        LiRA("offline", label="LiRA(offline)"),
        RMIA(label="RMIA"),
        RMIA("offline", label="RMIA(offline)"),
        RehearsedMIA(label="RehearsedMIA"),
        CertaintyMIA("lr", label="CertaintyMIA"),
        TreeMIA("lr", label="TreeMIA"),
        ConfidenceAIA(label="ConfidenceAIA"),
        LabelOnlyAIA(label="LabelOnlyAIA"),
        ImputationAIA(label="ImputationAIA"),
        PropertyClassifier(label="PropertyClassifier"),
        WhiteBoxPropertyClassifier(RandomForestClassifier(20), label="WhiteBoxPropertyClassifier"),
    )
