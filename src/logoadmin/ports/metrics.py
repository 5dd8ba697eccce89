"""Instrumentation: the events that operators can monitor (contract K2)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from logoadmin.domain.kernel.errors import StartError

# Jobs of other processes whose last run is monitored: backups, and publishing into a folder.
Milestone = Literal["last_backup", "published"]
SignInOutcome = Literal["ok", "failed", "refused"]


class Metrics:
    """Counts events; this class counts none. Methods are quick, never raise, and are safe to use from several threads.

    Labels come from fixed sets, so that no client can add a series.

    Attributes:
        enabled: whether anything is counted.
        cure: how to have events counted.
    """

    enabled: ClassVar[bool] = False

    def __init__(self, cure: str = "install logoadmin with the extra [metrics]") -> None:
        self.cure = cure

    def sign_in(self, outcome: SignInOutcome) -> None:
        """Count a sign-in by password; ``refused`` means after too many failures."""

    def database_call(self, outcome: str, seconds: float) -> None:
        """Count a database call.

        Args:
            outcome: ``ok``, or the code of the cause of a failure.
            seconds: the time, including waits and retries.
        """

    def request_started(self) -> None:
        """Count a request as in flight; :meth:`request_ended` must follow."""

    def request_ended(self) -> None:
        """Count a request as no longer in flight."""

    def request_body(self, size: int) -> None:
        """Count received bytes of a request body."""

    def response(self, operation: str, status: str, size: int, seconds: float, *, from_cache: bool) -> None:
        """Count a response with the bytes of its body and the time since the request."""

    def response_stored(self) -> None:
        """Count a public response that was stored in the response cache."""

    def gallery_generated(self, left_out: Mapping[str, int]) -> None:
        """Count a generation of the published gallery.

        Args:
            left_out: the number of active records that it lacks, by reason.
        """

    def gallery_failed(self) -> None:
        """Count a generation of the published gallery that failed."""

    def text(
        self,
        last_change: int | None,
        database: str,
        milestones: Mapping[Milestone, int] | None = None,
        proposals: tuple[int, int] | None = None,
        pictures: tuple[int, int, int] | None = None,
    ) -> str:
        """Return everything in the text format of Prometheus.

        Args:
            last_change: the id of the last change; None if storage does not respond.
            database: the kind of database.
            milestones: the Unix time of each, 0 before the first; None if storage does not respond.
            proposals: the number of waiting ones, and how many seconds the first has waited, 0 without any; likewise.
            pictures: the number of stored ones, their size, and the maximum size, in bytes; likewise.

        Raises:
            StartError: nothing is counted.
        """
        raise StartError("Metrics are not counted", self.cure)
