"""The n-grams of names, by which a part of a name finds the records that have it (contract E3).

Of each name all parts of one to four characters are stored, each with the ids of its records in ascending order.
"""

from typing import Any, Final

from sqlalchemy import String, bindparam, delete, func, insert, select

from logoadmin.adapters.sql_storage.dialects import insert_or_ignore
from logoadmin.adapters.sql_storage.statements import KEY, KEYS, in_portions
from logoadmin.adapters.sql_storage.tables import NGRAM_PREFIXES, NGRAM_SIZES, ngram_places, ngrams
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.records import Kind

_PREFIX: Final[Any] = bindparam("prefix", type_=String)
# The database cuts the name: that is one statement with three values, however long the name is.
_CUT: Final = func.substr(
    bindparam("name"), ngram_places.c.ends - ngram_places.c.size + 1, ngram_places.c.size, type_=String
)
_CUTS: Final = select(_PREFIX + _CUT, KEY).where(ngram_places.c.ends <= bindparam("length"))
# A name may have an n-gram twice; and one may be left of a record that somebody removed by hand.
_ADD: Final = insert_or_ignore(insert(ngrams).from_select(["gram", "record_id"], _CUTS))
_REMOVE: Final = delete(ngrams).where(ngrams.c.record_id == KEY, ngrams.c.gram.in_([bindparam(name) for name in KEYS]))


def ngrams_of(kind: Kind, name: str) -> set[str]:
    """Return the n-grams of a folded name."""
    prefix, length = NGRAM_PREFIXES[kind], len(name)
    return {prefix + name[at : at + size] for size in NGRAM_SIZES for at in range(length - size + 1)}


def ngrams_that_cover(kind: Kind, text: str) -> tuple[str, ...]:
    """Return n-grams, none of them twice, that every folded name has which has this text; none of an empty one."""
    for size in reversed(NGRAM_SIZES):
        if size <= len(text):
            starts = [*range(0, len(text) - size, size), len(text) - size]
            return tuple(dict.fromkeys(NGRAM_PREFIXES[kind] + text[at : at + size] for at in starts))
    return ()


def add_ngrams(transaction: Transaction, kind: Kind, id_: int, name: str) -> None:
    """Store the n-grams of the folded name of a record."""
    transaction.change(_ADD, {"prefix": NGRAM_PREFIXES[kind], "name": name, "length": len(name), "key": id_})


def change_ngrams(transaction: Transaction, kind: Kind, id_: int, before: str, after: str) -> None:
    """Store the n-grams of the folded name that a record has now, which is empty if it was removed."""
    if before == after:
        return
    for some in in_portions(KEYS, sorted(ngrams_of(kind, before) - ngrams_of(kind, after))):
        transaction.change(_REMOVE, {**some, "key": id_})
    if after:
        add_ngrams(transaction, kind, id_, after)
