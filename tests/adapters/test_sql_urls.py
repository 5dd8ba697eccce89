"""Which database URLs are accepted, and that none is ever quoted."""

import ssl

import pytest
from sqlalchemy import make_url

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.adapters.sql_storage.databases.mysql_connections import Connector
from logoadmin.domain.kernel.errors import SettingsError


@pytest.mark.rule("contract H2", "contract A20")
@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("sqlite:///gallery.db", "gallery.db"),
        ("sqlite:////var/lib/logo%20admin/gallery.db", "gallery.db"),
        ("mysql+pymysql://ann:pass@db.example.org:3307/gallery", "db.example.org:3307"),
        ("mysql://ann:pass@db.example.org/gallery", "db.example.org:3306"),
        ("mariadb://ann@[::1]:3306/gallery", "[::1]:3306"),
        ("mariadb:///gallery", "localhost:3306"),
        ("mysql://ann:my%40pass@db.example.org/gallery", "db.example.org:3306"),
        ("mysql://ann@ward:my?pa/ss@db.example.org/gallery", "db.example.org:3306"),
        ("mysql://ann:pass@db.example.org/gallery?unix_socket=%40mysql", "db.example.org:3306"),
    ],
)
def test_a_url_names_a_server(url: str, server: str) -> None:
    storage = open_sql_storage(url)
    assert storage.server == server
    storage.close()


@pytest.mark.rule("contract H2", "contract A20")
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        *(("", "is not a URL"), ("s3cret", "is not a URL"), ("mysql://ann:s3cret@host:port/gallery", "is not a URL")),
        ("postgresql://ann:s3cret@host/gallery", "must begin with sqlite:///, mysql"),
        ("mysql+asyncmy://ann:s3cret@host/gallery", "must begin with sqlite:///, mysql"),
        ("mysql+mysqldb://ann:s3cret@host/gallery", "is not installed"),
        ("mysql://ann:s3cret@host", "must end with the name of a database"),
        ("mysql://ann:s3cret@host/gallery?read_timeout=9", "options that are not known: read_timeout"),
        ("mysql://ann:s3cret@host/gallery?ssl=perhaps", "ssl of the database URL must be true or false"),
        ("mysql://ann:s3cret@host/gallery?ssl_ca=/s3cret/nowhere.pem", "certificates .* cannot be read"),
        ("mysql://ann:my@s3cret@127.0.0.1:1/gallery", "write @ in a password as %40"),
        ("mysql+mysqldb://ann:my@s3cret@127.0.0.1:1/gallery", "write @ in a password as %40"),
        ("mysql://ann:my@s3cret/x@127.0.0.1:1/gallery", "write @ in a password as %40"),
        ("mysql://ann:my@s3cret/x?y@127.0.0.1:1/gallery", "write @ in a password as %40"),
        ("mysql://ann:my@s3cret:1@127.0.0.1:1/gallery", "is not a URL"),
        ("mysql://host/gallery?user=ann&password=my@s3cret", "write @ in a password as %40"),
        *(("sqlite://", "must name a file"), ("sqlite:///:memory:", "must name a file")),
        *(("sqlite:///s3cret.db?mode=memory", "must name a file"), ("sqlite://s3cret/gallery.db", "must name a file")),
    ],
)
def test_a_bad_url_is_refused_and_not_quoted(url: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence) as caught:
        open_sql_storage(url)
    error: BaseException | None = caught.value
    assert "s3cret" not in str(error)
    assert error is not None
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.rule("contract H5")
@pytest.mark.parametrize(
    ("url", "demanded", "offered"),
    [
        ("mysql://db.example.org/g", None, ssl.CERT_NONE),
        ("mysql://db.example.org/g?ssl=true", ssl.CERT_REQUIRED, None),
        ("mysql://127.0.0.1/g?ssl=true", ssl.CERT_REQUIRED, None),
        ("mysql://db.example.org/g?ssl=false", None, None),
        *((f"mysql://{host}/g", None, None) for host in ("127.0.0.1", "localhost", "[::1]")),
        ("mysql://db.example.org/g?unix_socket=/run/mysqld.sock", None, None),
    ],
)
def test_tls_is_required_where_it_protects(
    url: str, demanded: ssl.VerifyMode | None, offered: ssl.VerifyMode | None
) -> None:
    connector = Connector(make_url(url.replace("mysql:", "mysql+pymysql:")))
    assert (connector._demanded and connector._demanded.verify_mode) == demanded
    assert (connector._offered and connector._offered.verify_mode) == offered
