"""All ports together, as a composition root passes them (contract H6)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from logoadmin.ports.gallery.pictures import PictureCodec
from logoadmin.ports.identity.issuer import Issuer
from logoadmin.ports.identity.passkeys import OpenPasskeys
from logoadmin.ports.identity.passwords import PasswordHasher
from logoadmin.ports.identity.tokens import TokenSigner, TokenVerifier
from logoadmin.ports.kernel.encryption import Encryption
from logoadmin.ports.kernel.environment import Clock, Randomness
from logoadmin.ports.kernel.metrics import Metrics, NoMetrics
from logoadmin.ports.kernel.outgoing import Outgoing, PostingOutgoing
from logoadmin.ports.publication.gallery_files import GalleryFiles
from logoadmin.ports.publication.gallery_page import GalleryPage, NoPage
from logoadmin.ports.publication.signing import Signing, SigningKey
from logoadmin.ports.publication.text import TextRenderer
from logoadmin.ports.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The adapters that the contexts need; without ``outgoing`` they ask no other host.

    Instead of ``passkeys`` and ``pictures`` there may be the reason why they cannot be used.
    """

    storage: Storage
    hasher: PasswordHasher
    signer: TokenSigner
    verifier: TokenVerifier
    encryption: Encryption
    randomness: Randomness
    clock: Clock
    signing: Signing
    text: TextRenderer
    passkeys: OpenPasskeys | str
    pictures: PictureCodec | str
    metrics: Metrics = field(default_factory=NoMetrics)
    outgoing: Outgoing | None = None
    gallery_keys: Sequence[SigningKey] = ()
    factor_keys: Sequence[str] = ()
    challenge_keys: Sequence[bytes] = ()
    issuer: Issuer | None = None
    receivers: PostingOutgoing | None = None
    published: GalleryFiles | None = None
    page: GalleryPage = field(default_factory=NoPage)
