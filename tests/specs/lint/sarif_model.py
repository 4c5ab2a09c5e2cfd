"""What SARIF 2.1.0 asks of a log such as ours (OASIS standard, sections 3.13 to 3.58), and GitHub beside it (a full
description, a region), as strict models."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Level = Literal["none", "note", "warning", "error"]
Place = Annotated[int, Field(ge=1)]


def _uri(uri: str) -> str:
    """A reference as RFC 3986 has it: no space, no raw character outside of ASCII, no leading slash."""
    assert uri.isascii()
    assert not set(uri) & set(' "<>\\^`{|}')
    assert unquote(uri)
    assert not uri.startswith("/")
    return uri


Uri = Annotated[str, AfterValidator(_uri)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Message(Strict):
    text: Annotated[str, Field(min_length=1)]


class Configuration(Strict):
    level: Level


class Rule(Strict):
    id: str
    shortDescription: Message
    fullDescription: Message
    help: Message
    defaultConfiguration: Configuration


class Driver(Strict):
    name: str
    version: str
    rules: list[Rule]


class Tool(Strict):
    driver: Driver


class Artifact(Strict):
    uri: Uri
    uriBaseId: str | None = None

    @model_validator(mode="after")
    def _is_relative(self) -> Artifact:
        assert self.uriBaseId is None or "://" not in self.uri
        return self


class Region(Strict):
    startLine: Place
    startColumn: Place | None = None
    endLine: Place | None = None
    endColumn: Place | None = None


class Physical(Strict):
    artifactLocation: Artifact
    region: Region


class Location(Strict):
    physicalLocation: Physical


class Replacement(Strict):
    deletedRegion: Region
    insertedContent: Annotated[dict[Literal["text"], str], Field(min_length=1)] | None = None


class Change(Strict):
    artifactLocation: Artifact
    replacements: Annotated[list[Replacement], Field(min_length=1)]


class Fix(Strict):
    description: Message
    artifactChanges: Annotated[list[Change], Field(min_length=1)]


class Result(Strict):
    ruleId: str
    ruleIndex: Annotated[int, Field(ge=0)]
    level: Level
    message: Message
    locations: Annotated[list[Location], Field(min_length=1, max_length=1)]
    partialFingerprints: Annotated[dict[str, str], Field(min_length=1)]
    fixes: Annotated[list[Fix], Field(min_length=1)] | None = None


class Associated(Strict):
    id: str
    index: Annotated[int, Field(ge=0)]


class Notification(Strict):
    associatedRule: Associated
    level: Level
    message: Message


class Invocation(Strict):
    executionSuccessful: bool
    toolConfigurationNotifications: list[Notification]


class Base(Strict):
    description: Message


class Run(Strict):
    tool: Tool
    columnKind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    originalUriBaseIds: dict[str, Base]
    invocations: list[Invocation]
    results: list[Result]

    @model_validator(mode="after")
    def _results_name_rules(self) -> Run:
        rules = self.tool.driver.rules
        assert len({rule.id for rule in rules}) == len(rules)
        assert all(rules[result.ruleIndex].id == result.ruleId for result in self.results)
        prints = [tuple(result.partialFingerprints.items()) for result in self.results]
        assert len(set(prints)) == len(prints)
        return self


class Log(Strict):
    schema_: Annotated[str, Field(alias="$schema")]
    version: Literal["2.1.0"]
    runs: Annotated[list[Run], Field(min_length=1)]
