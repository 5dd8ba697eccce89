"""The endpoints for users, roles and signing in (spec §Endpoints 1 to 5, contract C, O, R5)."""

import io
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from logoadmin.domain.identity import factors, passkeys, records, roles, sessions, users
from logoadmin.domain.identity import issuer_sign_in as issuer
from logoadmin.domain.identity import one_time_sign_in as one_time
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity import sign_in_events as events
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import described
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import RemovedAvatar, RemovedRole, RemovedUser, Role, User
from logoadmin.domain.public_url import PublicUrl
from logoadmin.entrypoints.http_api.operation import LEFT_OUT, Grant, Operation, whole_list


@dataclass(frozen=True, slots=True)
class NewTotp(records.NewTotp):
    """A secret for an authenticator app, which is shown only once. It becomes a factor when it is confirmed."""

    qr_svg: Annotated[str, described("The URI as a QR code, in SVG.", "<svg>...</svg>")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that signs a user in once (contract R5)."""

    url: Annotated[
        str,
        described("The URL for the member's browser, shown only once.", "https://gallery.example/console/#link=…"),
    ] = field(repr=False)
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_300)]


def with_qr_code(totp: records.NewTotp, _public_url: PublicUrl) -> NewTotp:
    """Return a new secret with its QR code."""
    return NewTotp(totp.factor_id, totp.secret, totp.uri, qr_svg(totp.uri))


def with_address(link: records.SignInLink, public_url: PublicUrl) -> SignInLink:
    """Return a new link as a URL of the console, with the secret in the fragment, which browsers do not send."""
    return SignInLink(f"{public_url.base}/console/#link={link.link}", link.expires_at)


def qr_svg(text: str) -> str:
    """Return the QR code of a text as a scalable ``<svg>`` element, to be embedded or shown as a picture.

    It is dark on white with a quiet zone, so that cameras can read it on any page. It has no styles, scripts or links.
    """
    import segno  # slow to import and rarely needed

    out = io.BytesIO()
    code = segno.make(text, error="m", micro=False, boost_error=False)
    code.save(
        out, "svg", dark="#000", light="#fff", omitsize=True, xmldecl=False, svgclass=None, lineclass=None, nl=False
    )
    return out.getvalue().decode()


_BASIC: Final = "The way to sign in: `password` or `refresh_token`."
# Ends the descriptions of operations that only sessions may call.
_NO_KEY: Final = "Not available to service keys."


# fmt: off
_GRANTS: Final = (
    Grant("password", _BASIC, sessions.SignIn, sessions.SessionService.sign_in, is_default=True),
    Grant("refresh_token", _BASIC, sessions.Refresh, sessions.SessionService.refresh),
    Grant("second_factor", "`second_factor`, for the second step.",
          SignInWithFactor, factors.FactorService.sign_in),
    Grant("passkey", "`passkey`, for a passkey alone.", passkeys.SignInWithPasskey, passkeys.PasskeyService.sign_in),
    Grant("sign_in_code", "`sign_in_code`, for a code of `logoadmin user code`.",
          one_time.SignInWithCode, one_time.CodeSignIn.sign_in),
    Grant("link", "`link`, for the secret part of a sign-in link.",
          one_time.SignInWithLink, one_time.LinkSignIn.sign_in),
    Grant("authorization_code", "`authorization_code`, for a code of the issuer.",
          issuer.SignInByIssuer, issuer.IssuerSignIn.sign_in),
)
IDENTITY_OPERATIONS: Final = (
    Operation("contract C1", "POST /api/auth/token", sessions.SignIn, sessions.SessionService.sign_in, records.Tokens,
              "Sign in, or refresh",
              "Accepts a username and a password, as JSON or as an OAuth 2 password form, and returns an access token "
              "and a refresh token. With `grant_type` `refresh_token`, accepts a refresh token, which is valid once: "
              "using it again ends the session. For users with a second factor, the correct password returns 401 with "
              "a challenge, to be answered within five minutes with `grant_type` `second_factor`. With `grant_type` "
              "`passkey`, accepts a passkey alone; 409 where passkeys cannot be used. With `sign_in_code`, accepts a "
              "code of `logoadmin user code` instead of all these. With `link`, accepts what follows `#link=` in a "
              "link of `POST /api/auth/links`. With `authorization_code`, accepts a code of the issuer (`GET "
              "/api/auth/ways`): 403 if the user's groups have no role. After many failures, the response is 429 for a "
              "while.",
              also=(401, 403, 409, 429), grants=_GRANTS),
    Operation("contract O2", "POST /api/auth/passkey/options", passkeys.AskPasskey, passkeys.PasskeyService.options,
              records.PasskeyOptions, "Start signing in with a passkey",
              "Returns options for `navigator.credentials.get()`, for any passkey that the device finds. `POST "
              "/api/auth/token` accepts the result within five minutes. 409 where passkeys cannot be used.",
              also=(409,)),
    Operation("contract O7", "GET /api/auth/ways", issuer.ShowWays, issuer.IssuerSignIn.ways, issuer.SignInWays,
              "Show the ways to sign in",
              "Returns the ways that the settings allow, and how a browser requests a code of the issuer of single "
              "sign-on: it sends this `client_id`, `redirect_uri` and `scope` to `authorization_endpoint`, with "
              "`response_type=code` and its own `state`, `nonce` and PKCE `code_challenge` (S256). While the issuer "
              "cannot be used, `issuer` has only `name` and `failure`."),
    Operation("contract R5", "POST /api/auth/links", one_time.CreateLink, one_time.LinkSignIn.create, SignInLink,
              "Create a sign-in link",
              "For the server of the host site, with a service key. Creates the user with the role `member` if "
              "missing, or updates their name and avatar, and returns a link that signs them in once within 5 minutes "
              "and opens the console. 403 for users with a password, a second factor, an identity of an issuer, or "
              "scopes that the caller lacks. 409 if another user has the name. Without `user_id`, it always creates a "
              "user, with a new number; without `username`, the user must exist.", success=201,
              also=(404, 409), shown=with_address),
    Operation("contract C3", "POST /api/auth/revoke", sessions.Revoke, sessions.SessionService.revoke,
              records.EndedSession, "Sign out",
              "Ends the session of the refresh token in the body, or, without a body, of the access token.",
              also=(403,), bodiless=True),
    Operation("contract C3", "GET /api/auth/me", sessions.WhoAmI, sessions.SessionService.me, records.Me,
              "Get the current user", "Returns the user of the token, with their current scopes."),
    Operation("contract J8", "GET /api/auth/me/preferences", users.GetPreferences,
              users.PreferenceService.get, dict[str, Any], "Get my preferences",
              "Returns the JSON object that you stored; empty if there is none. The service does not interpret it. Not "
              "available to service keys."),
    Operation("contract J8", "PUT /api/auth/me/preferences", users.SetPreferences,
              users.PreferenceService.set, dict[str, Any], "Set my preferences",
              "Replaces the stored object with any JSON object of at most 4 KiB. It is not in the history, and is "
              "removed with the user. Not available to service keys.", whole_body="preferences"),
    Operation("contract C6", "GET /api/auth/sessions", sessions.ListSessions, sessions.SessionService.list,
              tuple[records.ListedSession, ...], "List my sessions",
              f"Lists the sessions, one per sign-in, the oldest first. {_NO_KEY}"),
    Operation("contract C6", "DELETE /api/auth/sessions/{session_id}", sessions.RemoveSession,
              sessions.SessionService.remove, records.RemovedSession, "End one of my sessions",
              "Its tokens are no longer accepted. 404 if it is not yours or does not exist. Not available to service "
              "keys."),
    Operation("contract O1", "GET /api/auth/factors", factors.ListFactors, factors.FactorService.list,
              tuple[records.ListedFactor, ...], "List my second factors", f"Lists them by `factor_id`. {_NO_KEY}"),
    Operation("contract O1", "POST /api/auth/factors/totp", factors.EnrolTotp, factors.FactorService.enrol_totp,
              NewTotp, "Add an authenticator app",
              "Returns a secret for the app, shown only once. It becomes a factor when it is confirmed within 10 "
              f"minutes, and replaces any other unconfirmed one. 409 for a user with 20 factors. {_NO_KEY}",
              also=(409,),
              shown=with_qr_code),
    Operation("contract O1", "POST /api/auth/factors/totp/confirm", factors.ConfirmTotp,
              factors.FactorService.confirm_totp, records.NewFactor, "Confirm an authenticator app",
              "Accepts the code that the app shows, which is valid once. From then on, signing in with the password "
              "requires a second step. The first factor comes with ten recovery codes, shown only once. 404 if the "
              f"secret does not exist or has expired, 409 if it is already confirmed. {_NO_KEY}", success=201,
              also=(404, 409, 429)),
    Operation("contract O1", "POST /api/auth/factors/passkeys/options", passkeys.BeginPasskey,
              passkeys.PasskeyService.begin, records.PasskeyOptions, "Start adding a passkey",
              "Returns options for `navigator.credentials.create()`. 409 for a user with 20 factors, and where "
              f"passkeys cannot be used. {_NO_KEY}", also=(409,)),
    Operation("contract O1", "POST /api/auth/factors/passkeys", passkeys.EnrolPasskey, passkeys.PasskeyService.enrol,
              records.NewFactor, "Add a passkey",
              "Accepts the passkey that the browser created with the options, within five minutes. From then on, "
              "signing in with the password requires a second step, and the passkey alone can sign in. The first "
              "factor comes with ten recovery codes, shown only once. 409 for a passkey that is already enrolled, for "
              f"a user with 20 factors, and where passkeys cannot be used. {_NO_KEY}", success=201, also=(409, 429)),
    Operation("contract O1", "DELETE /api/auth/factors/{factor_id}", factors.RemoveFactor, factors.FactorService.remove,
              records.RemovedFactor, "Remove one of my second factors",
              f"Removing the last one also removes the recovery codes. {_NO_KEY}", also=(409,)),
    Operation("contract O1", "GET /api/auth/recovery-codes", factors.CountRecoveryCodes,
              factors.FactorService.recovery_codes, records.RecoveryCodesLeft, "Count my recovery codes",
              f"Returns the number of unused ones. {_NO_KEY}"),
    Operation("contract O1", "POST /api/auth/recovery-codes", factors.MakeRecoveryCodes,
              factors.FactorService.make_recovery_codes, records.NewRecoveryCodes, "Create new recovery codes",
              "Returns ten codes, shown only once, which replace all others. 409 for a user without a second factor. "
              f"{_NO_KEY}", also=(409, 429)),
    Operation("contract O9", "GET /api/auth/events", events.ListEvents, events.EventService.list,
              Listing[records.SignInEvent], "List security events",
              "Lists sign-ins, refused sign-ins, ended sessions, and changes of passwords, factors and service keys, "
              "the newest first: of all users with `users:read`, otherwise your own, without `address` and "
              "`user_agent` of other users. Refused sign-ins are counted by user, network and hour. Events are kept "
              "for some months. A service key requires `users:read`."),
    Operation("contract C5", "GET /api/auth/keys", keys.ListKeys, keys.KeyService.list, tuple[records.ServiceKey, ...],
              "List my service keys", "Lists the keys without their secrets. A service key lists only itself."),
    Operation("contract C5", "POST /api/auth/keys", keys.CreateKey, keys.KeyService.create, records.NewServiceKey,
              "Create a service key",
              "Returns the key, which is shown only once. Its scope is always limited to the current scope of its "
              "owner. 409 for a user with 100 unexpired keys. Not available to service keys.", success=201,
              also=(409, 429)),
    Operation("contract C5", "DELETE /api/auth/keys/{key_id}", keys.RemoveKey, keys.KeyService.remove,
              records.RemovedServiceKey, "Revoke a service key", f"The key is no longer accepted. {_NO_KEY}"),
    Operation("spec §Endpoints 1", "GET /api/users", users.ListUsers, users.UserService.list, Listing[User],
              "List users", whole_list(USERS)),
    Operation("spec §Endpoints 2", "POST /api/users", users.CreateUser, users.UserService.create, User, "Create a user",
              "You choose the `user_id`. The user gets role 1 unless you choose another, and can sign in at once. A "
              "role with more scopes requires a sign-in at most 10 minutes old.", success=201, also=(404,)),
    Operation("spec §Endpoints 3", "GET /api/users/{user_id}", users.GetUser, users.UserService.get, User, "Get a user",
              "Users may read their own record."),
    Operation("contract D users", "PATCH /api/users/{user_id}", users.AmendUser, users.UserService.amend, User,
              "Change a user",
              f"{LEFT_OUT} Giving a role with more scopes, and reactivating a suspended user, require a sign-in at "
              "most 10 minutes old.", also=(409,)),
    Operation("contract D users", "DELETE /api/users/{user_id}", users.RemoveUser, users.UserService.remove,
              RemovedUser, "Remove a user", "The user's sessions and service keys end at once.", also=(409,)),
    Operation("spec §Endpoints 4", "DELETE /api/users/{user_id}/avatar", users.RemoveAvatar,
              users.UserService.remove_avatar, RemovedAvatar, "Remove a user's avatar",
              "Returns the removed avatar, or an empty string if there was none."),
    Operation("contract D users", "PUT /api/users/{user_id}/password", users.SetPassword,
              users.UserService.set_password, User, "Set a user's password",
              "The user's other sessions end. Users may set their own with `current_password`: 403 if it is wrong, "
              "which counts as a failed sign-in, and 429 after many of these. Setting another user's password requires "
              "a sign-in at most 10 minutes old. Under `guarded`, a password that is too short or very common is 422.",
              also=(429,)),
    Operation("contract C6", "GET /api/users/{user_id}/sessions", sessions.ListUserSessions,
              sessions.SessionService.list_of_user, tuple[records.ListedSession, ...], "List a user's sessions",
              f"Lists the sessions, one per sign-in, the oldest first. {_NO_KEY}"),
    Operation("contract C6", "DELETE /api/users/{user_id}/sessions/{session_id}", sessions.RemoveUserSession,
              sessions.SessionService.remove_of_user, records.RemovedSession, "End one of a user's sessions",
              "Its tokens are no longer accepted. Not available to service keys."),
    Operation("contract C6", "DELETE /api/users/{user_id}/sessions", sessions.RemoveUserSessions,
              sessions.SessionService.remove_all, records.RemovedUserSessions, "End a user's sessions",
              f"All tokens of the user become invalid; service keys stay. {_NO_KEY}"),
    Operation("contract O1", "GET /api/users/{user_id}/factors", factors.ListUserFactors,
              factors.FactorService.list_of_user, tuple[records.ListedFactor, ...], "List a user's second factors",
              "Lists them by `factor_id`."),
    Operation("contract O1", "DELETE /api/users/{user_id}/factors", factors.RemoveUserFactors,
              factors.FactorService.remove_all, records.RemovedUserFactors, "Remove a user's second factors",
              f"For users who have lost them. Also removes the recovery codes, and ends the user's sessions. {_NO_KEY}",
              also=(409,)),
    Operation("contract D roles", "GET /api/roles", roles.ListRoles, roles.RoleService.list, Listing[Role],
              "List roles", whole_list(ROLES)),
    Operation("contract D roles", "POST /api/roles", roles.CreateRole, roles.RoleService.create, Role, "Create a role",
              "You cannot grant a scope that you do not hold.", success=201),
    Operation("contract D roles", "GET /api/roles/{role_id}", roles.GetRole, roles.RoleService.get, Role, "Get a role",
              "Its `scope` lists what its users may do."),
    Operation("spec §Endpoints 5", "PATCH /api/roles/{role_id}", roles.AmendRole, roles.RoleService.amend, Role,
              "Change a role",
              "The rights of its users change at once. Omitted fields stay unchanged. Adding scopes requires a sign-in "
              "at most 10 minutes old. With `dry_run=true`, nothing changes, and the response shows what would change "
              "for whom.", also=(409,), dry_run=(roles.RoleService.preview, roles.RoleEffect)),
    Operation("contract D roles", "DELETE /api/roles/{role_id}", roles.RemoveRole, roles.RoleService.remove,
              RemovedRole, "Remove a role", "409 while a user has the role, and for role 1, the role of new users.",
              also=(409,)),
)
# fmt: on
