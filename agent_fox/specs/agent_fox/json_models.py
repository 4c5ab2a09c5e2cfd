"""The JSON form at the door: pydantic models, tolerant of unknown keys, nulls and numbers for texts.

Both versions of the form: where the second has another name for a thing, either is taken.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _text(value: object) -> object:
    """Null is no text, a number is its digits."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _number(value: object) -> object:
    """A group's number; words such as `all` mean none."""
    if isinstance(value, str):
        return int(value) if value.strip().isdecimal() and len(value) < 7 else None
    return value


Text = Annotated[str, BeforeValidator(_text)]
Number = Annotated[int | None, BeforeValidator(_number)]
Texts = list[Text]


class _Model(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: object) -> object:
        """A null is the same as an absent key."""
        if not isinstance(values, dict):
            return values
        return {key: value for key, value in values.items() if value is not None}


class JsonCriterion(_Model):
    """`pattern`, `guard` and `contract` are of the second version, where `condition` follows the pattern's word."""

    id: Text
    pattern: Text = ""
    guard: Text = ""
    contract: Text = ""
    text: Text = ""
    system: Text = ""
    action: Text = ""
    trigger: Text = ""
    condition: Text = ""
    state: Text = ""
    feature: Text = ""
    error_condition: Text = ""
    return_contract: Text = ""


class JsonStory(_Model):
    role: Text = ""
    goal: Text = ""
    benefit: Text = ""


class JsonRequirement(_Model):
    id: Text
    title: Text = ""
    status: Text = ""
    user_story: JsonStory | str = ""
    rationale: Text = ""
    acceptance_criteria: list[JsonCriterion] = Field(
        [], validation_alias=AliasChoices("acceptance_criteria", "criteria")
    )
    edge_cases: list[JsonCriterion] = []


class JsonRequirements(_Model):
    requirements: list[JsonRequirement] = []


class JsonSubtask(_Model):
    id: Text
    title: Text = ""
    details: Texts = []
    requirement_refs: Texts = []
    state: Text = ""
    optional: bool = False


class JsonVerification(_Model):
    id: Text = ""
    checks: Texts = []


class JsonGroup(_Model):
    """A group; in the second version a task, with `steps` and `tests` of its own and no subtasks.

    `depends_on` is of the second version too; without it a task waits for the one before it.
    """

    id: Annotated[int, BeforeValidator(_number)]
    kind: Text = ""
    title: Text = ""
    state: Text = ""
    optional: bool = False
    archetype: Text = ""
    requirement_refs: Texts = Field([], validation_alias=AliasChoices("requirement_refs", "criteria"))
    tests: Texts = []
    steps: Texts = []
    touches: Texts = []
    done_when: Texts = []
    depends_on: Texts | None = None
    subtasks: list[JsonSubtask] = []
    verification: JsonVerification = Field(default_factory=JsonVerification)


class JsonDependency(_Model):
    """`sentinel`: the other spec had no groups yet, so that `from_group` means nothing."""

    depends_on_spec: Text = Field(validation_alias=AliasChoices("depends_on_spec", "spec", "spec_id"))
    from_group: Number = None
    to_group: Number = None
    sentinel: bool = False


class JsonTrace(_Model):
    requirement_id: Text = ""
    test_spec_id: Text = ""
    task_id: Text = ""
    test_path: Text = ""


class JsonTest(_Model):
    """A test of the second version, which says itself what it verifies."""

    id: Text = ""
    verifies: Texts = []


class JsonTests(_Model):
    tests: list[JsonTest] = []


class JsonTasks(_Model):
    test_commands: dict[str, str | None] = {}
    dependencies: list[JsonDependency] = []
    task_groups: list[JsonGroup] = Field([], validation_alias=AliasChoices("task_groups", "tasks"))
    traceability: list[JsonTrace] = []
