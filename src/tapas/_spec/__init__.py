"""What a thing is, by value: two things with equal specs do the same.

A spec may only err towards "different". What cannot be compared with certainty is listed as a
doubt, and whoever keeps work under a spec does not reuse it then.
"""

from tapas._spec._installed import is_installed
from tapas._spec._plain import Plain, differences, digest_of
from tapas._spec._reader import SpecifiesItself, attributes_of
from tapas._spec._spec import Spec, spec_of

__all__ = [
    "Plain",
    "Spec",
    "SpecifiesItself",
    "attributes_of",
    "differences",
    "digest_of",
    "is_installed",
    "spec_of",
]
