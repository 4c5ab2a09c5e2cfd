"""Clouds that serve a provider's models: whoever runs this is known to the cloud by its own SDK's chain of credentials.

The chain is asked in the runner; the agent's program gets a word of its launch. Extra `[cloud]`; without it the
program logs in by itself, and is handed what it needs for that.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any

from agent_fox.core.values import dataclass
from agent_fox.session.agents.proxy.model_side import LoginError, Opening
from agent_fox.session.infrastructure import Infrastructure

if TYPE_CHECKING:
    from agent_fox.session.agents.proxy.model_side import Access

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
NOBODY_AT_GOOGLE = "Google knows nobody here: gcloud auth application-default login"
NOBODY_AT_AWS = "AWS knows nobody here: aws configure, or aws sso login"
LASTING = 1800.0
"""Seconds after which a token of Bedrock is made anew: it lasts as long as what it was made with, 12 hours at most."""


@dataclass(frozen=True, slots=True)
class CloudKind:
    """`switch` turns it on in the program, `skip` has the program leave the login to us, `base` says where we are.

    `told` are variables that the program must know; `of_chain` begins the names of those that only the chain reads.
    `regions` are those that say where its models are, which stands in its `address`; `worldwide` is that of `global`.
    """

    name: str
    service: str
    switch: str
    skip: str
    base: str
    module: str
    told: tuple[str, ...]
    of_chain: tuple[str, ...]
    regions: tuple[str, ...]
    address: str
    remedy: str
    worldwide: str = ""

    def is_meant(self, variables: Mapping[str, str]) -> bool:
        """Whether the person has turned it on, and we can ask its chain."""
        return bool(variables.get(self.switch)) and importlib.util.find_spec(self.module.partition(".")[0]) is not None

    def for_runner(self, variables: Mapping[str, str]) -> dict[str, str]:
        """What the runner needs of a person's variables; the program sees `told` alone."""
        names = (self.switch, *self.told)
        return {name: value for name, value in variables.items() if name in names or name.startswith(self.of_chain)}

    def for_program(self, variables: Mapping[str, str], address: str, word: str) -> dict[str, str]:
        seen = {name: variables[name] for name in self.told if variables.get(name)}
        ours = {self.switch: "1", self.skip: "1", self.base: address}
        return {**seen, **ours, "ANTHROPIC_CUSTOM_HEADERS": f"x-api-key: {word}"}

    def upstream(self, variables: Mapping[str, str]) -> str:
        """Raises ValueError where nobody says in which region."""
        if variables.get(self.base):
            return variables[self.base]
        region = self.region_of(variables)
        return (self.worldwide if self.worldwide and region == "global" else self.address).format(region)

    def region_of(self, variables: Mapping[str, str]) -> str:
        """Raises ValueError."""
        region = next((variables[name] for name in self.regions if variables.get(name)), "")
        if not region:
            raise ValueError(self.remedy)
        return region

    def access(self, variables: Mapping[str, str]) -> Access:
        """What opens it. The chain reads the environment of this process now, and not again."""
        return BedrockAccess(self.region_of(variables)) if self.service == "bedrock" else VertexAccess()


@dataclass(slots=True)
class VertexAccess:
    """Tokens by Google's default credentials: a service account, a login of gcloud, the machine's own account."""

    _credentials: Any = field(default=None, repr=False)
    _is_refused: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        import google.auth  # noqa: PLC0415 - an extra
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 - an extra

        with suppress(GoogleAuthError):  # it is said when the first request comes
            self._credentials, _ = google.auth.default(scopes=[SCOPE])

    def opening(self) -> Opening:
        with self._lock:
            if self._credentials is None:
                raise LoginError(NOBODY_AT_GOOGLE)
            if self._is_refused or not self._credentials.valid:
                self._renew()
            token = str(self._credentials.token or "")
        if not token:
            raise LoginError(NOBODY_AT_GOOGLE)
        return Opening((("authorization", f"Bearer {token}"),), token)

    def _renew(self) -> None:
        import google.auth.transport.requests as transport  # noqa: PLC0415 - an extra
        from google.auth.exceptions import GoogleAuthError, TransportError  # noqa: PLC0415 - an extra

        try:
            self._credentials.refresh(transport.Request())
        except TransportError as error:
            raise LoginError(f"Google does not answer ({type(error).__name__})", Infrastructure.NETWORK) from None
        except GoogleAuthError as error:
            raise LoginError(f"{NOBODY_AT_GOOGLE} ({type(error).__name__})") from None
        self._is_refused = False

    def refuse(self, token: str) -> None:
        with self._lock:
            self._is_refused = True


@dataclass(slots=True)
class BedrockAccess:
    """Bearer tokens that AWS's own package makes from its chain: variables, profiles, SSO, roles, the machine."""

    region: str
    _credentials: Any = field(default=None, repr=False)
    _made: float = 0.0
    _token: str = field(default="", repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        import botocore.session  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

        with suppress(BotoCoreError):  # it is said when the first request comes
            self._credentials = botocore.session.Session().get_credentials()

    def opening(self) -> Opening:
        with self._lock:
            if not self._token or time.monotonic() - self._made > LASTING:
                self._token, self._made = self._fresh(), time.monotonic()
            return Opening((("authorization", f"Bearer {self._token}"),), self._token)

    def _fresh(self) -> str:
        from aws_bedrock_token_generator import BedrockTokenGenerator  # type: ignore[import-untyped]  # noqa: PLC0415
        from botocore import exceptions  # noqa: PLC0415 - an extra

        if self._credentials is None:
            raise LoginError(NOBODY_AT_AWS)
        try:
            return str(BedrockTokenGenerator().get_token(self._credentials, self.region))
        except exceptions.HTTPClientError as error:
            raise LoginError(f"AWS does not answer ({type(error).__name__})", Infrastructure.NETWORK) from None
        except (exceptions.BotoCoreError, exceptions.ClientError) as error:
            raise LoginError(f"{NOBODY_AT_AWS} ({type(error).__name__})") from None

    def refuse(self, token: str) -> None:
        with self._lock:
            self._token = ""
