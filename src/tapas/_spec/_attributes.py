"""What an instance holds of its own."""

import copyreg
from functools import cached_property, lru_cache
from types import GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType


def attributes_of(thing: object) -> dict[str, object]:
    """Attributes of an instance, from its dictionary and its slots; not what follows from them."""
    kind = type(thing)
    found = dict(getattr(thing, "__dict__", {}))
    for ancestor in kind.__mro__:
        slots = vars(ancestor).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{ancestor.__name__.lstrip('_')}{slot}" if private else slot
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                found[name] = getattr(thing, name)
    return {name: value for name, value in found.items() if not _is_derived(kind, name)}


def _is_derived(cls: type, name: str) -> bool:
    """Whether the class says how an attribute follows from others."""
    for ancestor in cls.__mro__:
        if name in ancestor.__dict__:
            return isinstance(ancestor.__dict__[name], cached_property)
    return False


def is_its_attributes(cls: type) -> bool:
    """Whether instances are told by their attributes, rather than by how they are pickled."""
    if cls in copyreg.dispatch_table or cls.__reduce_ex__ is not object.__reduce_ex__:
        return False
    return cls.__reduce__ is object.__reduce__ and not _holds_compiled_parts(cls)


@lru_cache(maxsize=1024)
def _holds_compiled_parts(cls: type) -> bool:
    compiled = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
    return any(
        isinstance(member, compiled) and name not in ("__dict__", "__weakref__")
        for ancestor in cls.__mro__
        if ancestor is not object
        for name, member in vars(ancestor).items()
    )
