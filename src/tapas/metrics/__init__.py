"""Point estimates of how well an attack did: pure functions of arrays.

None of these numbers claims any confidence; `tapas.stats` gives bounds and intervals. What each
file lists in its ``__all__`` is public here.
"""

# ruff: noqa: F403
from tapas.metrics import _areas, _counted, _effective_epsilon, _many_values, _rates, _roc
from tapas.metrics._areas import *
from tapas.metrics._counted import *
from tapas.metrics._effective_epsilon import *
from tapas.metrics._many_values import *
from tapas.metrics._rates import *
from tapas.metrics._roc import *

_FILES = (_areas, _counted, _effective_epsilon, _many_values, _rates, _roc)
# Classes, then functions, each in order of the alphabet.
__all__ = sorted(
    (name for file in _FILES for name in file.__all__), key=lambda name: (name[0].islower(), name)
)
