"""Old address of the drawing functions."""

from tapas.report._binary import ALL_METRICS
from tapas.report._comparison import AXIS_RANGES as axis_ranges  # noqa: N811
from tapas.report._comparison_files import write_comparisons as _write_comparisons
from tapas.report._roc import plot_roc_curve

__all__ = ["ALL_METRICS", "axis_ranges", "metric_comparison_plots", "plot_roc_curve", "set_style"]


def metric_comparison_plots(  # type: ignore[no-untyped-def]
    data, comparison_label, fixed_pair_label, metrics, marker_label, output_path
):
    """Draw one comparison figure per pair of values; see `BinaryLabelAttackReport.compare`."""
    return _write_comparisons(
        data, comparison_label, fixed_pair_label, metrics, marker_label, output_path
    )


def set_style() -> None:
    """Do nothing: figures carry their own style and no global setting is changed."""
