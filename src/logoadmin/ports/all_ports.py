"""All ports together, as a composition root passes them (contract H6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from logoadmin.ports.encryption import Encryption
from logoadmin.ports.environment import Clock, Randomness
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.ports.issuer import Issuer
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.outgoing import Outgoing, PostingOutgoing
from logoadmin.ports.passkeys import OpenPasskeys
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.pictures import PictureCodec
from logoadmin.ports.signing import Signing, SigningKey
from logoadmin.ports.storage import Storage
from logoadmin.ports.text import TextRenderer
from logoadmin.ports.tokens import AccessTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The adapters that the contexts need; without ``outgoing`` they contact no other host.

    ``passkeys`` and ``pictures`` may be the reason why they cannot be used.
    """

    storage: Storage
    hasher: PasswordHasher
    tokens: AccessTokens
    encryption: Encryption
    randomness: Randomness
    clock: Clock
    signing: Signing
    text: TextRenderer
    passkeys: OpenPasskeys | str
    pictures: PictureCodec | str
    page: GalleryPage
    metrics: Metrics = field(default_factory=Metrics)
    outgoing: Outgoing | None = None
    gallery_keys: Sequence[SigningKey] = ()
    factor_keys: Sequence[str] = ()
    challenge_keys: Sequence[bytes] = ()
    issuer: Issuer | None = None
    receivers: PostingOutgoing | None = None
    published: GalleryFiles | None = None
