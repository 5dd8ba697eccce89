"""The publication context: its services, and its part in every write (contract L)."""

from typing import Final

from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Auditing
from logoadmin.domain.publication.css.css_service import CssService
from logoadmin.domain.publication.files.gallery_keys import GalleryKeys
from logoadmin.domain.publication.files.withdrawals import withdraw
from logoadmin.domain.publication.publication_records import PublishingRules
from logoadmin.domain.publication.publication_service import PublicationService
from logoadmin.domain.publication.shared_settings import AuditedSettings, SettingsService
from logoadmin.domain.publication.text_service import TextService
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.gallery_files import GalleryFiles

# Settings are recorded in the history, and withdrawals published to readers.
AUDITING: Final = Auditing(records={Kind.SETTINGS: AuditedSettings}, subscribers=[withdraw])


class PublicationContext:
    """The services of the published gallery, of CSS and of texts.

    Attributes:
        published: the files that the service publishes in the background; None for none.
    """

    publication: PublicationService
    css: CssService
    settings: SettingsService
    text: TextService
    published: GalleryFiles | None

    def connect_publication(self, transactions: Transactions, ports: Ports, rules: PublishingRules) -> None:
        """Create the services."""
        self.published = ports.published
        self.css = CssService(transactions, ports.outgoing)
        self.settings = SettingsService(transactions)
        self.text = TextService(transactions, ports.text)
        keys = GalleryKeys(ports.signing, ports.gallery_keys, rules.days, ports.randomness)
        self.publication = PublicationService(transactions, keys, ports.page, rules, ports.published)
