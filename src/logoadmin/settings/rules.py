"""The rules of the contexts, from the settings (contract H1)."""

from importlib.util import find_spec

from logoadmin.domain.identity.sign_in_rules import SignInRules, SingleSignOnRules, Ways
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import Rules
from logoadmin.domain.publication.publication_records import Links, Page, PublishingRules
from logoadmin.ports.passkeys import NO_NAME, NOT_INSTALLED
from logoadmin.settings.settings import Settings
from logoadmin.settings.values import GITHUB, group_and_role, urls_in


def rules_of(settings: Settings, reader: bytes, *, demo: bool) -> Rules:
    """Return the rules that the operator has chosen."""
    return Rules(
        access=settings.access,
        publishing=PublishingRules(
            settings.gallery_days,
            reader,
            settings.publish_imports,
            settings.gallery_dir is None,
            Page(settings.gallery_title, settings.gallery_home, demo, settings.gallery_report)
            if settings.gallery_page
            else None,
            *_links(settings),
        ),
        sign_in=sign_in_rules(settings),
        public_url=settings.effective_public_url,
        picture_space=settings.picture_space,
        demo=demo,
        proposal_days=settings.proposal_days,
        console_url=f"{settings.effective_public_url.base}/console/",
        notify_urls=urls_in(settings.notify_urls),
    )


def sign_in_rules(settings: Settings) -> SignInRules:
    """Return the rules for sign-in that the operator has chosen (contract O)."""
    is_guarded = settings.access is Policy.GUARDED
    return SignInRules(
        second_factor=settings.second_factor,
        min_password_length=settings.min_password_length if is_guarded else None,
        session_days=settings.session_days,
        event_days=settings.event_days,
        ways=Ways(
            settings.password_sign_in,
            why_no_passkeys(settings) is None,
            settings.oidc_issuer,
            issuer_reports_time=settings.oidc_issuer != GITHUB,
        ),
        single_sign_on=SingleSignOnRules(tuple(map(group_and_role, settings.oidc_roles)), settings.oidc_default_role),
    )


def _links(settings: Settings) -> tuple[Links, Links]:
    """Return the links in files that the service publishes, and in a folder that is served elsewhere.

    Elsewhere, a URL for browsers on this machine is useless.
    """
    base = settings.effective_public_url.base
    is_public, submit = bool(settings.public_url), settings.gallery_submit
    page = submit if isinstance(submit, str) else None
    console = f"{base}/console/submit" if settings.console and submit is True else page
    own = Links(f"{base}/gallery/" if settings.gallery else None, console, is_public)
    return own, own if is_public else Links(submit=page)


def why_no_passkeys(settings: Settings) -> str | None:
    """Return why passkeys cannot be used, for clients; None if they can (contract O1, O8)."""
    if settings.effective_public_url.is_address:
        return NO_NAME
    return NOT_INSTALLED if find_spec("fido2") is None else None  # an optional package
