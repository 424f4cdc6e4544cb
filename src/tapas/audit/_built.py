"""What a factory of games makes of an audit file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tapas._spec import Plain
from tapas.audit._subject import Subject


@dataclass(frozen=True, eq=False)
class Built:
    """Subjects, and facts that belong to the question.

    Attributes
    ----------
    subjects : tuple of Subject
    facts : mapping
        By section of the file: digests of data, sizes that were chosen.
    inputs : mapping
        By key of the file: the tables that were read.
    """

    subjects: tuple[Subject, ...]
    facts: Mapping[str, dict[str, Plain]] = field(default_factory=dict)
    inputs: Mapping[str, Plain] = field(default_factory=dict)
