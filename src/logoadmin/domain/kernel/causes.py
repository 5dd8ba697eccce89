"""Why a database fails (contract K3): for the log, the command line and `readyz`, never for other responses."""

from enum import Enum


class Cause(Enum):
    """A cause: its code for programs, the problem, and what to do."""

    code: str
    text: str
    cure: str

    def __new__(cls, code: str, text: str, cure: str) -> "Cause":
        """The value of a row is the code."""
        cause = object.__new__(cls)
        cause._value_ = cause.code = code
        cause.text, cause.cure = text, cure
        return cause

    OUT_OF_REACH = (
        "out_of_reach",
        "no database server responds there",
        "check that it is running, and that the database URL has the right host and port",
    )
    UNKNOWN_HOST = (
        "unknown_host",
        "its host name cannot be resolved",
        "correct the host in the database URL, or the name resolution of this machine (DNS, /etc/hosts)",
    )
    NO_ANSWER = (
        "no_answer",
        "it does not respond in time",
        "check whether it hangs, and whether a firewall drops packets to its port",
    )
    ACCESS_DENIED = (
        "access_denied",
        "it rejects the user or the password",
        "check both in the database URL, and that the server accepts this user from this machine, without TLS if the "
        "URL does not ask for it",
    )
    NO_RIGHTS = (
        "no_rights",
        "its user lacks the rights, or it has no database of that name: the server reports both alike",
        "check the name at the end of the database URL, then grant the user SELECT, INSERT, UPDATE and DELETE on it, "
        "and ALL for logoadmin init",
    )
    UNKNOWN_DATABASE = (
        "unknown_database",
        "the server has no database of that name",
        "create it with CREATE DATABASE, or correct the name at the end of the database URL",
    )
    TLS_REFUSED = (
        "tls_refused",
        "server and URL disagree about TLS, or the certificate is not trusted",
        "compare ssl, ssl_ca and ssl_check_hostname in the URL with the TLS settings of the server",
    )
    SESSION = (
        "session",
        "it refuses a setting that every session of this program needs",
        "let sessions change it in the configuration of the server, or of the proxy in front of it",
    )
    DISK_FULL = ("disk_full", "its disk is full", "free some space")
    READ_ONLY = (
        "read_only",
        "it is read-only",
        "give the user of this program write access to the file and its directory, or use a server that accepts writes",
    )
    CORRUPT = (
        "corrupt",
        "it is damaged, or not a database",
        "stop the service, keep a copy of the file, and restore it from a backup",
    )
    CANNOT_OPEN = (
        "cannot_open",
        "the file cannot be opened",
        "check that it exists, and that the user of this program may read and write it and its directory",
    )
    IO_ERROR = (
        "io_error",
        "the system cannot read or write its file",
        "check the system log for disk errors, and the limits on file sizes",
    )
    CUT_OFF = ("cut_off", "the server is cut off from its cluster", "use another server, or repair the cluster")
    TOO_LARGE = (
        "too_large",
        "the server's packets are too small",
        "set its max_allowed_packet to the size that logoadmin doctor names",
    )
    TOO_BUSY = (
        "too_busy",
        "it is too busy, or locked by another program",
        "try again; if that does not help, find out what holds the lock, and check limits such as max_connections",
    )
    NO_TABLES = ("no_tables", "it has no logoadmin tables yet", "run logoadmin init for the same database")
    GALLERY_GONE = (
        "gallery_gone",
        "its gallery is gone",
        "check that its disk is mounted and that database names the right one; otherwise restore a backup",
    )
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
        "its tables belong to a newer version of logoadmin",
        "install that version or a newer one",
    )
    MOVED = ("moved", "its gallery was moved to another database", "set database to the URL of the new one")
