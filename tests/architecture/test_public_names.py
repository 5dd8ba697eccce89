"""The public names: each is a promise (contract H6)."""

import inspect
from importlib.metadata import version
from importlib.resources import files
from operator import attrgetter

import pytest

import logoadmin

pytestmark = pytest.mark.rule("contract H6")

NAMES = {
    # opening a gallery
    *("connect", "asgi", "metrics", "LogoAdmin", "Settings", "Listing"),
    # callers
    *("ANONYMOUS", "OWNER", "Anonymous", "Caller", "ActingAs", "KeyHolder", "Owner", "Policy", "Scope", "SignedIn"),
    # errors
    *(
        "ArtworkBlocked",
        "BadLine",
        "Cause",
        "Conflict",
        "DuplicateEntry",
        "DuplicateUpdate",
        "InvalidInput",
        "InvalidLines",
    ),
    *("IncorrectPassword", "InvalidToken"),
    *("LogoAdminError", "NotAuthenticated", "NotFound", "NotPermitted", "Problem", "SchemaMismatch", "SettingsError"),
    *("EnrolmentRequired", "PasswordChangeRequired", "RecentSignInRequired", "SecondFactorRequired"),
    *("IssuerRefused", "IssuerUnavailable", "SignInForbidden"),
    *(
        "NotModified",
        "Outdated",
        "OutgoingError",
        "SignInRefused",
        "StartError",
        "StorageUnavailable",
        "TablesMissing",
        "TooManyChanges",
        "TooManySignIns",
        "TooLargeToStore",
        "TooManyPictures",
        "PictureGone",
    ),
    # records and results
    *("Author", "Imported", "ImportedCounts", "Kind", "Logo", "LogoAuthor", "RemovedAuthor", "RemovedAvatar"),
    *("RemovedLogo", "RemovedLogoAuthor", "RemovedRole", "RemovedTheme", "RemovedThemeAuthor", "RemovedUser"),
    *("SentPicture", "RemovedPicture", "SendPicture", "GetPicture", "RemovePicture"),
    *("Proposal", "ProposalState", "ProposedChange", "ProposeChanges", "ListProposals", "GetProposal"),
    *("AmendProposal", "ApplyProposal", "DeclineProposal", "WithdrawProposal"),
    *("Role", "Theme", "ThemeAuthor", "Tokens", "User"),
    *("ListedSession", "RemovedSession", "RemovedUserSessions"),
    *(
        "AffectedUser",
        "RoleEffect",
        "SharedSettings",
        "CssRisk",
        "Verdict",
        "InlinedCss",
        "CopiedSheet",
        "FailedImport",
    ),
    "CssImport",
    *("Blocked", "LeftOut", "Publication", "PublicationStatus", "Published", "Risky"),
    *("Change", "EndedSession", "Me", "NewServiceKey", "RemovedServiceKey", "ServiceKey"),
    # commands
    *("AmendUser", "CreateUser", "FindUser", "GetUser", "ListUsers", "RemoveAvatar", "RemoveUser", "SetPassword"),
    *("AmendRole", "CreateRole", "GetRole", "ListRoles", "RemoveRole"),
    *("AmendAuthor", "CreateAuthor", "GetAuthor", "ListAuthorLogos", "ListAuthorThemes", "ListAuthors"),
    *("RemoveAuthor", "AmendLogo", "CreateLogo", "GetLogo", "LinkLogoAuthor", "ListLogoAuthors", "ListLogos"),
    *("RemoveLogo", "UnlinkLogoAuthor", "AmendTheme", "CreateTheme", "GetTheme", "LinkThemeAuthor"),
    *("GetLogoCss", "GetThemeCss", "ListThemeAuthors", "ListThemes", "RemoveTheme", "UnlinkThemeAuthor"),
    *("BlockLogo", "BlockTheme"),
    *("Refresh", "Revoke", "SignIn", "WhoAmI", "CreateKey", "ListKeys", "RemoveKey", "ListChanges", "Revert"),
    *("ApplyChanges", "BulkChange", "RevertRequest"),
    *("IssuerFailure", "IssuerWay", "ShowWays", "SignInByIssuer", "SignInWays"),
    *("ListSessions", "ListUserSessions", "RemoveSession", "RemoveUserSession", "RemoveUserSessions"),
    # second factors
    *("ConfirmTotp", "CountRecoveryCodes", "EnrolTotp", "ListFactors", "ListUserFactors", "MakeRecoveryCodes"),
    *("RemoveFactor", "RemoveUserFactors", "SignInWithFactor", "ListedFactor", "NewFactor", "NewRecoveryCodes"),
    *("NewTotp", "RecoveryCodesLeft", "RemovedFactor", "RemovedUserFactors"),
    *("SignInEvent", "ListEvents", "CreateSignInCode", "SignInWithCode", "NewSignInCode"),
    *("AskPasskey", "BeginPasskey", "EnrolPasskey", "SignInWithPasskey", "PasskeyOptions"),
    *("CreatedCredential", "UsedCredential"),
    *(
        "ExportRecords",
        "ImportRecords",
        "GetPreferences",
        "SetPreferences",
        "AmendSettings",
        "GetSettings",
        "JudgeCss",
        "InlineCss",
        "RenderText",
        "RenderedText",
        "ShowPublication",
    ),
}


def test_the_public_names_are_these() -> None:
    assert set(logoadmin.__all__) == NAMES
    assert len(logoadmin.__all__) == len(NAMES)


def test_every_name_resolves_to_the_same_thing_each_time() -> None:
    for name in NAMES:
        assert getattr(logoadmin, name) is getattr(logoadmin, name)
    namespace: dict[str, object] = {}
    exec("from logoadmin import *", namespace)
    assert set(namespace) >= NAMES
    assert set(dir(logoadmin)) >= NAMES


def test_every_public_class_and_function_has_a_docstring() -> None:
    for name in NAMES:
        value = getattr(logoadmin, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            assert value.__module__.startswith("logoadmin"), name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="attribute CreateArtist"):
        attrgetter("CreateArtist")(logoadmin)
    assert not hasattr(logoadmin, "__wrapped__")


def test_the_version_is_that_of_the_package() -> None:
    assert logoadmin.__version__ == version("logoadmin")
    assert not hasattr(logoadmin, "__wrapped__")


def test_the_package_is_marked_as_typed() -> None:
    assert files("logoadmin").joinpath("py.typed").is_file()
    assert files("logoadmin").joinpath("__init__.pyi").is_file()
