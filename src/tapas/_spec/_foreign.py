"""How tables, tensors and boosters of packages are described; none is imported before it is met."""

from typing import Any

from tapas._spec._code import path_of
from tapas._spec._kinds import Describe, Reader
from tapas._spec._plain import Plain, digest_of


def _pandas(reader: Reader, value: object, where: str) -> Plain:
    """A frame, series or index by its content; None for other things of pandas."""
    import pandas as pd

    kind, names = path_of(type(value)), [getattr(value, "name", None)]
    if isinstance(value, pd.Index):
        value = value.to_series()
    if not isinstance(value, (pd.DataFrame, pd.Series)):
        return None
    columns = [value] if isinstance(value, pd.Series) else [c for _, c in value.items()]
    if isinstance(value, pd.DataFrame):
        names = [*value.columns]
    content = [_column(reader, column, where) for column in (*columns, value.index.to_series())]
    return {"path": kind, "names": reader.describe(names, where), "columns": content}


def _column(reader: Reader, column: object, where: str) -> Plain:
    """Type and digest of the values of a series."""
    import pandas as pd

    if not isinstance(column, pd.Series):
        return None
    kind: object = str(column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = [list(column.dtype.categories), column.dtype.ordered]
    if column.dtype == object and pd.api.types.infer_dtype(column) != "string":
        return [str(column.dtype), reader.describe(column.tolist(), where)]
    hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
    return [reader.describe(kind, where), digest_of(hashes.tobytes())]


def _torch(reader: Reader, value: object, where: str) -> Plain:
    """A dense tensor by its content; None for other things of torch."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    content = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    shape: list[Plain] = [*value.shape]
    return {"tensor": shape, "dtype": str(value.dtype), "digest": digest_of(content.tobytes())}


def _booster(reader: Reader, value: Any, where: str) -> Plain:
    """A booster of xgboost or lightgbm by what it is saved as; None for other things of theirs."""
    if type(value).__name__ != "Booster":
        return None
    save = value.save_raw if hasattr(value, "save_raw") else value.model_to_string
    return {"path": path_of(type(value)), "saved": reader.describe(save(), where)}


def _catboost(reader: Reader, value: Any, where: str) -> Plain:
    """An estimator of catboost by its parameters and its trees, whenever these were grown."""
    if not hasattr(type(value), "get_metadata"):
        return None
    if value.is_fitted():
        value = value.copy()
        for key in ("model_guid", "train_finish_time"):
            value.get_metadata()[key] = ""
    return {"path": path_of(type(value)), "state": reader.describe(value.__getstate__(), where)}


FOREIGN: dict[str, Describe] = {
    "pandas": _pandas,
    "torch": _torch,
    "xgboost": _booster,
    "lightgbm": _booster,
    "catboost": _catboost,
}
