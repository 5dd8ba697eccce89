"""Why a database does not do what it is asked (contract K3): for the log, the command line and `readyz`.

No answer to a request has it.
"""

from enum import Enum


class Cause(Enum):
    """One row for each cause.

    Attributes:
        code: its name for programs.
        text: what is the matter.
        cure: what to do about it.
    """

    code: str
    text: str
    cure: str

    def __new__(cls, code: str, text: str, cure: str) -> "Cause":
        """Make a row, whose value is the code."""
        cause = object.__new__(cls)
        cause._value_ = cause.code = code
        cause.text, cause.cure = text, cure
        return cause

    OUT_OF_REACH = (
        "out_of_reach",
        "nothing answers there as a database server does",
        "check that it is running, and that the database URL has the right host and port",
    )
    UNKNOWN_HOST = (
        "unknown_host",
        "its host name cannot be resolved",
        "correct the host in the database URL, or the name resolution of this machine (DNS, /etc/hosts)",
    )
    NO_ANSWER = (
        "no_answer",
        "it does not answer in time",
        "look whether it hangs, and for a firewall on the way that drops what is sent to its port",
    )
    ACCESS_DENIED = (
        "access_denied",
        "it refuses the user or the password",
        "check both in the database URL, and that the server accepts this user from this machine, without TLS if the "
        "URL does not ask for it",
    )
    NO_RIGHTS = (
        "no_rights",
        "its user lacks the rights, or it has no database of that name: the server does not say which",
        "check the name at the end of the database URL, then grant the user SELECT, INSERT, UPDATE and DELETE on it, "
        "and ALL for logoadmin init",
    )
    UNKNOWN_DATABASE = (
        "unknown_database",
        "the server is there, but has no database of that name",
        "make it with CREATE DATABASE, or correct the name at the end of the URL",
    )
    TLS_REFUSED = (
        "tls_refused",
        "server and URL do not agree about TLS, or the certificate is not to be trusted",
        "compare ssl, ssl_ca and ssl_check_hostname in the URL with what the server offers and demands",
    )
    DISK_FULL = ("disk_full", "its disk is full", "make room there")
    READ_ONLY = (
        "read_only",
        "it can only be read",
        "let the user of this program write the file and its directory, or name a server that takes changes",
    )
    CORRUPT = (
        "corrupt",
        "it is damaged, or no database any more",
        "stop the service, keep a copy of it as it is, and restore it from a backup",
    )
    CANNOT_OPEN = (
        "cannot_open",
        "the file cannot be opened",
        "make sure that it is there, and that the user of this program may read and write it and its directory",
    )
    IO_ERROR = (
        "io_error",
        "the system cannot read or write its file",
        "look into the log of the system for what is wrong with the disk, and for limits on the size of files",
    )
    CUT_OFF = ("cut_off", "the server is cut off from its cluster", "name another one, or mend the cluster")
    TOO_LARGE = (
        "too_large",
        "the server does not take so much at once",
        "set its max_allowed_packet to four mebibytes or more",
    )
    TOO_BUSY = (
        "too_busy",
        "it is too busy, or somebody else keeps it locked",
        "try again; if it stays so, look for who holds it, and for limits such as max_connections",
    )
    NO_TABLES = ("no_tables", "it has no tables of logoadmin yet", "run logoadmin init for the same database")
    OLDER_TABLES = (
        "older_tables",
        "its tables are older than this program",
        "run logoadmin init for the same database",
    )
    PRERELEASE_TABLES = (
        "prerelease_tables",
        "its tables were made by a version before 0.1.0",
        "run logoadmin export with that version, and logoadmin import with this one on a new database",
    )
    NEWER_TABLES = (
        "newer_tables",
        "its tables were made by a newer logoadmin, and this one does not know them",
        "install that version or a newer one",
    )
