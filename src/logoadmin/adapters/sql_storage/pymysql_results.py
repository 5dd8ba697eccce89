"""Reading the rows of an answer in a third of the time that PyMySQL takes, which spends it on a call for each value.

This rests on insides of PyMySQL. A version that has others reads by itself.
"""

from collections.abc import Iterator
from math import inf
from types import SimpleNamespace
from typing import Any, Final

from pymysql import connections, err, protocol  # type: ignore[import-untyped]  # the driver has no types

_LOST: Final = 2013
# How many kinds of answer are remembered; the service has some dozens.
_DESCRIPTIONS: Final = 500
_INSIDES_OF_CONNECTION: Final = (
    "decoders",
    "_read_query_result",
    "_read_bytes",
    "_force_close",
    "_next_seq_id",
    "_result",
    "server_status",
)
_INSIDES_OF_RESULT: Final = ("_read_result_packet", "_get_descriptions")
# The protocol of MySQL: the first byte of a packet or of a value, and how many bytes then say how long it is.
_NULL: Final = 0xFB
_WIDTHS: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_END: Final = 0xFE
_ERROR: Final = 0xFF
_LONG: Final = 9
_LONGEST_PACKET: Final = 2**24 - 1

_Usual: Any = getattr(connections, "MySQLResult", object)


def read_quickly(connection: Any) -> None:
    """Let a connection read its answers with :class:`QuickResult`, if that can be."""
    found = [hasattr(connection, name) for name in _INSIDES_OF_CONNECTION]
    if not all(found + [hasattr(_Usual, name) for name in _INSIDES_OF_RESULT]):
        return

    def read(unbuffered: bool = False) -> Any:
        result = QuickResult(connection)
        connection._result = None
        if unbuffered:
            result.init_unbuffered_query()
        else:
            result.read()
        connection._result = result
        if result.server_status is not None:
            connection.server_status = result.server_status
        return result.affected_rows

    connection._read_query_result = read


class QuickResult(_Usual):  # type: ignore[misc]  # the driver has no types
    """The rows of one answer."""

    connection: Any
    _described: Final[dict[bytes, tuple[Any, Any, Any]]] = {}

    def _read_result_packet(self, first_packet: Any) -> None:
        self.field_count = first_packet.read_length_encoded_integer()
        # The server describes the columns anew with every answer, in the same bytes; they are parsed once.
        packets = [self._packet() for _ in range(self.field_count + 1)]
        key = b"".join(packets)
        known = self._described.get(key)
        if known is None:
            known = self._describe(iter(packets))
            if len(self._described) < _DESCRIPTIONS:
                self._described[key] = known
        self.fields, self.converters, self.description = known
        self._read_rows()

    def _describe(self, packets: Iterator[bytes]) -> tuple[Any, Any, Any]:
        """Let the driver parse a description that was read already."""
        connection = self.connection

        def read(kind: Any = protocol.MysqlPacket) -> Any:
            return kind(next(packets), connection.encoding)

        self.connection = SimpleNamespace(
            _read_packet=read,
            use_unicode=connection.use_unicode,
            encoding=connection.encoding,
            decoders=connection.decoders,
        )
        try:
            self._get_descriptions()
        finally:
            self.connection = connection
        return self.fields, self.converters, self.description

    def _read_rows(self) -> None:
        rows = []
        left = getattr(self.connection, "most_bytes", inf)
        while not ((data := self._packet())[0] == _END and len(data) < _LONG):
            if left >= 0:
                rows.append(self._row(data))
                left -= len(data)
        self._check_packet_is_eof(protocol.MysqlPacket(data, "utf8mb4"))
        self.connection = None
        self.affected_rows = len(rows)
        self.rows = tuple(rows)

    def _row(self, data: bytes) -> tuple[Any, ...]:
        row: list[Any] = []
        position = 0
        for encoding, converter in self.converters:
            length = data[position]
            position += 1
            if length == _NULL:
                row.append(None)
                continue
            if length > _NULL:
                width = _WIDTHS[length]
                length = int.from_bytes(data[position : position + width], "little")
                position += width
            value: Any = data[position : position + length]
            position += length
            if encoding is not None:
                value = value.decode(encoding)
            row.append(value if converter is None else converter(value))
        return tuple(row)

    def _packet(self) -> bytes:
        connection = self.connection
        whole = b""
        size = _LONGEST_PACKET
        while size == _LONGEST_PACKET:
            header = connection._read_bytes(4)
            size = int.from_bytes(header[:3], "little")
            if header[3] != connection._next_seq_id:
                connection._force_close()
                raise err.OperationalError(_LOST, "The connection was lost in the middle of an answer")
            connection._next_seq_id = (header[3] + 1) % 256
            part: bytes = connection._read_bytes(size)
            whole = whole + part if whole else part
        if whole[0] == _ERROR:
            err.raise_mysql_exception(whole)
        return whole
