"""Events: what happened when users signed in, and to what they sign in with (contract O9)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from logoadmin.domain.kernel.limits import EventId, described

EventName = Literal[
    "signed_in",
    "sign_in_refused",
    "sign_in_limited",
    "session_ended",
    "token_reused",
    "factor_added",
    "factor_removed",
    "recovery_codes_made",
    "key_made",
    "key_removed",
    "password_changed",
    "sign_in_code_made",
    "link_made",
    "suspended",
    "suspension_ended",
]
# Anybody can cause these, so they are counted by user, address and hour.
CountedEvent = Literal["sign_in_refused", "sign_in_limited"]


@dataclass(frozen=True, slots=True)
class SignInEvent:
    """Something that happened to an account. It outlasts the user, and has no secret.

    Attributes:
        event_id: its id; later events have higher ids.
        at: the time, as Unix time; of events that are counted together, the time of the last one.
        event: what happened.
        user_id: the user whose account it is; None if no user has the name that was given.
        user_name: the name of the user at that time.
        address: the address of the client, at most 64 characters; None if unknown. Where events are counted, the
            network of an IPv6 address, and None for all addresses when there are very many.
        user_agent: the ``User-Agent`` of the client, at most 256 characters; None if unknown.
        factor: what signed in, or the kind of factor that was added or removed; None otherwise.
        count: how often it happened; of limited sign-ins, in how many minutes.
        by_user_id: who did it, if that was another user; None otherwise.
        by_user_name: the name of that user at that time.
    """

    event_id: EventId
    at: Annotated[int, described("When it happened, in Unix seconds; if counted, the last time.", 1_800_000_000)]
    event: Annotated[EventName, described("What happened.", "signed_in")]
    user_id: Annotated[int | None, described("The user; `null` if no user has the name that was given.", 1042)]
    user_name: Annotated[str | None, described("The name of the user at that time, if there was one.", "ann")] = None
    address: Annotated[
        str | None,
        described("The client's address, or its network if counted; `null` if unknown or of many.", "203.0.113.7"),
    ] = None
    user_agent: Annotated[
        str | None, described("The client's `User-Agent`, cut to 256 characters; `null` if unknown.", "curl/8.5.0")
    ] = None
    factor: Annotated[
        str | None, described("What signed in, or the kind of the factor that was added or removed.", "totp")
    ] = None
    count: Annotated[int, described("How often it happened within the hour; more than 1 only if counted.", 1)] = 1
    by_user_id: Annotated[int | None, described("Who did it, if it was another user.", 1)] = None
    by_user_name: Annotated[str | None, described("The name of that user at that time.", "admin")] = None
