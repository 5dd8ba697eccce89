"""The names of the package and their modules, for ``__init__.py`` and type checkers."""

from .domain.logo_admin import LogoAdmin as LogoAdmin, metrics as metrics
from .domain.kernel.access import (
    ANONYMOUS as ANONYMOUS,
    OWNER as OWNER,
    ActingAs as ActingAs,
    Anonymous as Anonymous,
    Caller as Caller,
    KeyHolder as KeyHolder,
    Owner as Owner,
    Policy as Policy,
    Scope as Scope,
    SignedIn as SignedIn,
)
from .domain.kernel.causes import Cause as Cause
from .domain.publication.css.verdict import CssImport as CssImport, CssRisk as CssRisk, Verdict as Verdict
from .domain.identity.roles import AffectedUser as AffectedUser, RoleEffect as RoleEffect
from .domain.kernel.details import (
    Details as Details,
    Screenshot as Screenshot,
)
from .domain.kernel.errors import (
    ArtworkBlocked as ArtworkBlocked,
    BadLine as BadLine,
    Conflict as Conflict,
    DuplicateEntry as DuplicateEntry,
    DuplicateUpdate as DuplicateUpdate,
    EnrolmentRequired as EnrolmentRequired,
    PasswordChangeRequired as PasswordChangeRequired,
    IncorrectPassword as IncorrectPassword,
    InvalidInput as InvalidInput,
    InvalidLines as InvalidLines,
    InvalidToken as InvalidToken,
    IssuerRefused as IssuerRefused,
    IssuerUnavailable as IssuerUnavailable,
    LinkRefused as LinkRefused,
    LogoAdminError as LogoAdminError,
    NotAuthenticated as NotAuthenticated,
    NotFound as NotFound,
    NotModified as NotModified,
    NotPermitted as NotPermitted,
    Outdated as Outdated,
    PictureGone as PictureGone,
    OutgoingError as OutgoingError,
    Problem as Problem,
    RecentSignInRequired as RecentSignInRequired,
    SchemaMismatch as SchemaMismatch,
    SecondFactorRequired as SecondFactorRequired,
    SettingsError as SettingsError,
    SignInForbidden as SignInForbidden,
    SignInRefused as SignInRefused,
    SignsInByLink as SignsInByLink,
    StartError as StartError,
    StorageUnavailable as StorageUnavailable,
    TablesMissing as TablesMissing,
    TooManyChanges as TooManyChanges,
    TooLargeToStore as TooLargeToStore,
    TooManyKeys as TooManyKeys,
    TooManyPictures as TooManyPictures,
    TooManyRefreshes as TooManyRefreshes,
    TooManyRequests as TooManyRequests,
    TooManySignIns as TooManySignIns,
)
from .domain.identity.records import SignInEvent as SignInEvent
from .domain.identity.records import (
    ListedFactor as ListedFactor,
    NewFactor as NewFactor,
    NewRecoveryCodes as NewRecoveryCodes,
    NewSignInCode as NewSignInCode,
    NewTotp as NewTotp,
    PasskeyOptions as PasskeyOptions,
    RecoveryCodesLeft as RecoveryCodesLeft,
    RemovedFactor as RemovedFactor,
    RemovedUserFactors as RemovedUserFactors,
    SignInLink as SignInLink,
)
from .domain.kernel.lists import Listing as Listing
from .ports.passkeys import (
    CreatedCredential as CreatedCredential,
    UsedCredential as UsedCredential,
)
from .domain.publication.css.inlining import (
    CopiedSheet as CopiedSheet,
    FailedImport as FailedImport,
    InlinedCss as InlinedCss,
)
from .domain.publication.publication_records import (
    Blocked as Blocked,
    LeftOut as LeftOut,
    Publication as Publication,
    PublicationStatus as PublicationStatus,
    Published as Published,
    Risky as Risky,
)
from .domain.kernel.records import (
    Author as Author,
    Change as Change,
    Kind as Kind,
    Logo as Logo,
    LogoAuthor as LogoAuthor,
    RemovedAuthor as RemovedAuthor,
    RemovedAvatar as RemovedAvatar,
    RemovedLogo as RemovedLogo,
    RemovedLogoAuthor as RemovedLogoAuthor,
    RemovedRole as RemovedRole,
    RemovedTheme as RemovedTheme,
    RemovedThemeAuthor as RemovedThemeAuthor,
    RemovedUser as RemovedUser,
    Role as Role,
    SharedSettings as SharedSettings,
    Theme as Theme,
    ThemeAuthor as ThemeAuthor,
    User as User,
)
from .domain.identity.records import (
    EndedSession as EndedSession,
    ListedSession as ListedSession,
    Me as Me,
    NewServiceKey as NewServiceKey,
    RemovedServiceKey as RemovedServiceKey,
    RemovedSession as RemovedSession,
    RemovedUserSessions as RemovedUserSessions,
    ServiceKey as ServiceKey,
    Tokens as Tokens,
)
from .domain.identity.issuer_sign_in import (
    IssuerFailure as IssuerFailure,
    IssuerWay as IssuerWay,
    SignInWays as SignInWays,
)
from .domain.gallery.artworks import (
    AmendLogo as AmendLogo,
    AmendTheme as AmendTheme,
    BlockLogo as BlockLogo,
    BlockTheme as BlockTheme,
    CreateLogo as CreateLogo,
    CreateTheme as CreateTheme,
    GetLogo as GetLogo,
    GetTheme as GetTheme,
    LinkLogoAuthor as LinkLogoAuthor,
    LinkThemeAuthor as LinkThemeAuthor,
    ListAuthorLogos as ListAuthorLogos,
    ListAuthorThemes as ListAuthorThemes,
    ListLogoAuthors as ListLogoAuthors,
    ListLogos as ListLogos,
    ListThemeAuthors as ListThemeAuthors,
    ListThemes as ListThemes,
    RemoveLogo as RemoveLogo,
    RemoveLogoAuthor as RemoveLogoAuthor,
    RemoveTheme as RemoveTheme,
    RemoveThemeAuthor as RemoveThemeAuthor,
    UnlinkLogoAuthor as UnlinkLogoAuthor,
    UnlinkThemeAuthor as UnlinkThemeAuthor,
)
from .domain.gallery.authors import (
    AmendAuthor as AmendAuthor,
    CreateAuthor as CreateAuthor,
    GetAuthor as GetAuthor,
    ListAuthors as ListAuthors,
    RemoveAuthor as RemoveAuthor,
)
from .domain.changes.acts import Act as Act, ListActs as ListActs
from .domain.changes.bulk_changes import ApplyChanges as ApplyChanges, BulkChange as BulkChange
from .domain.changes.member_notices import (
    GetNotices as GetNotices,
    MarkNoticesSeen as MarkNoticesSeen,
    MemberNotices as MemberNotices,
    UnseenNotices as UnseenNotices,
)
from .domain.changes.proposal_commands import (
    Proposal as Proposal,
    ProposalSummary as ProposalSummary,
    ProposedChange as ProposedChange,
)
from .domain.changes.proposal_commands import (
    AmendProposal as AmendProposal,
    ApplyProposal as ApplyProposal,
    DeclineProposal as DeclineProposal,
    GetProposal as GetProposal,
    ListProposals as ListProposals,
    ProposeChanges as ProposeChanges,
    WithdrawProposal as WithdrawProposal,
)
from .ports.proposal_storage import ProposalState as ProposalState
from .domain.changes.history import ListChanges as ListChanges, Revert as Revert, RevertRequest as RevertRequest
from .domain.publication.text_service import RenderText as RenderText, RenderedText as RenderedText
from .domain.publication.css.css_service import (
    InlineCss as InlineCss,
    JudgeCss as JudgeCss,
    ReadUserStyle as ReadUserStyle,
)
from .domain.publication.css.user_style_source import UserStyle as UserStyle
from .domain.identity.sign_in_events import ListEvents as ListEvents
from .domain.identity.factors import ConfirmTotp as ConfirmTotp, EnrolTotp as EnrolTotp
from .domain.identity.factors import (
    CountRecoveryCodes as CountRecoveryCodes,
    ListFactors as ListFactors,
    ListUserFactors as ListUserFactors,
    MakeRecoveryCodes as MakeRecoveryCodes,
    RemoveFactor as RemoveFactor,
    RemoveUserFactors as RemoveUserFactors,
)
from .domain.changes.import_export import ExportRecords as ExportRecords, ImportRecords as ImportRecords
from .domain.identity.service_keys import CreateKey as CreateKey, ListKeys as ListKeys, RemoveKey as RemoveKey
from .domain.identity.passkeys import (
    BeginPasskey as BeginPasskey,
    EnrolPasskey as EnrolPasskey,
)
from .domain.publication.css.css_service import GetLogoCss as GetLogoCss, GetThemeCss as GetThemeCss
from .domain.identity.users import GetPreferences as GetPreferences, SetPreferences as SetPreferences
from .domain.publication.publication_service import ShowPublication as ShowPublication
from .domain.identity.roles import (
    AmendRole as AmendRole,
    CreateRole as CreateRole,
    GetRole as GetRole,
    ListRoles as ListRoles,
    RemoveRole as RemoveRole,
)
from .domain.identity.sessions import (
    ListSessions as ListSessions,
    ListUserSessions as ListUserSessions,
    Refresh as Refresh,
    RemoveSession as RemoveSession,
    RemoveUserSession as RemoveUserSession,
    RemoveUserSessions as RemoveUserSessions,
    Revoke as Revoke,
    WhoAmI as WhoAmI,
)
from .domain.changes.import_export import Imported as Imported, ImportedCounts as ImportedCounts
from .domain.gallery.picture_commands import (
    GetPicture as GetPicture,
    KeptPicture as KeptPicture,
    ListPictures as ListPictures,
    RemovedPicture as RemovedPicture,
    RemovePicture as RemovePicture,
    SendPicture as SendPicture,
    SentPicture as SentPicture,
)
from .domain.publication.shared_settings import (
    AmendSettings as AmendSettings,
    GetSettings as GetSettings,
)
from .domain.identity.passkeys import AskPasskey as AskPasskey, SignInWithPasskey as SignInWithPasskey
from .domain.identity.sessions import SignIn as SignIn
from .domain.identity.second_step import SignInWithFactor as SignInWithFactor
from .domain.identity.one_time_sign_in import (
    CreateLink as CreateLink,
    CreateSignInCode as CreateSignInCode,
    SignInWithCode as SignInWithCode,
    SignInWithLink as SignInWithLink,
)
from .domain.identity.issuer_sign_in import ShowWays as ShowWays, SignInByIssuer as SignInByIssuer
from .domain.identity.users import (
    AmendUser as AmendUser,
    CreateUser as CreateUser,
    FindUser as FindUser,
    GetUser as GetUser,
    ListUsers as ListUsers,
    RemoveAvatar as RemoveAvatar,
    RemoveUser as RemoveUser,
    SetPassword as SetPassword,
)
from .embedding import asgi as asgi, connect as connect
from .settings import Settings as Settings

__version__: str

# The names that most programs need, for `from logoadmin import *`: opening a gallery, and its lists
__all__ = ["Listing", "LogoAdmin", "Settings", "asgi", "connect", "metrics"]
# Callers
__all__ += ["ANONYMOUS", "OWNER", "ActingAs", "Anonymous", "Caller", "Owner", "Policy", "Scope", "SignedIn"]
# Errors
__all__ += ["Conflict", "DuplicateEntry", "DuplicateUpdate", "InvalidInput", "InvalidToken", "LogoAdminError"]
__all__ += ["NotAuthenticated", "NotFound", "NotModified", "NotPermitted", "Outdated", "Problem", "SchemaMismatch"]
__all__ += ["SettingsError", "SignInRefused", "StartError", "StorageUnavailable", "TablesMissing"]
# Records
__all__ += ["Author", "Change", "Logo", "LogoAuthor", "Role", "Theme", "ThemeAuthor", "Tokens", "User"]
# Commands
__all__ += ["AmendAuthor", "CreateAuthor", "GetAuthor", "ListAuthors", "RemoveAuthor"]
__all__ += ["AmendLogo", "CreateLogo", "GetLogo", "LinkLogoAuthor", "ListLogoAuthors", "ListLogos", "RemoveLogo"]
__all__ += ["AmendTheme", "CreateTheme", "GetTheme", "LinkThemeAuthor", "ListThemes", "RemoveTheme"]
__all__ += ["ListChanges", "Revert", "SignIn", "UnlinkThemeAuthor"]
__all__ += ["AmendRole", "CreateRole", "GetRole", "ListRoles"]
__all__ += ["AmendUser", "CreateUser", "GetUser", "ListUsers", "RemoveAvatar", "RemoveUser"]
