"""What the sections of an audit file have in common."""

from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

Share = Annotated[float, Field(ge=0, le=1)]
_Part = TypeVar("_Part", bound="Part")


class Part(BaseModel):
    """A section of the file: no unknown key, no silent conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def named(value: Any) -> Any:
    """A bare name stands for a component without parameters."""
    return {"use": value} if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """One thing stands for a list of one."""
    return [value] if isinstance(value, (dict, str)) else value


def bare_goal(value: Any) -> Any:
    """A bare name stands for a goal without parameters."""
    return {value: {}} if isinstance(value, str) else value


def given(part: "Part", names: tuple[str, ...]) -> list[str]:
    """Which of some keys of a section are given."""
    return [name for name in names if getattr(part, name) is not None]


def exactly_one(part: _Part, names: tuple[str, ...], what: str) -> _Part:
    """Refuse a section in which none, or more than one, of some keys is given."""
    came_in = given(part, names)
    if len(came_in) != 1:
        came = " and ".join(came_in) or "none"
        raise ValueError(f"{what} needs exactly one of {', '.join(names)}; got {came}")
    return part


class ComponentPart(Part):
    """Something made by name."""

    use: str = Field(description="Name from `tapas list`, or package.module:Name")
    parameters: dict[str, Any] = Field(default={}, description="Arguments of its constructor")
    label: str | None = Field(default=None, description="Display name")


Component = Annotated[ComponentPart, BeforeValidator(named)]
