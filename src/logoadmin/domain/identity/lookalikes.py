"""Names that look alike, without regard to case and marks (contract O7)."""

import unicodedata
from typing import Final

# Latin, Greek, Cyrillic and Armenian letters by the plain one that each resembles, as Unicode Technical Standard 39 has
# them. The console has the same ones.
LIKE: Final = {
    "2": "\u01a7\ua644\ua75a",
    "3": "\u01b7\u021c\u0417\u04e0\ua76a\ua7ab",
    "5": "\u01bc",
    "6": "\u0431",
    "8": "\u0222\u0223",
    "9": "\ua76e",
    "A": "\u0391\u0410",
    "B": "\u0392\u0412\ua7b4",
    "C": "\u0421",
    "E": "\u0395\u0415",
    "F": "\u03dc\ua798",
    "G": "\u050c",
    "H": "\u0397\u041d",
    "J": "\u037f\u0408\ua7b2",
    "K": "\u039a\u041a",
    "M": "\u039c\u03fa\u041c",
    "N": "\u039d",
    "O": "\u039f\u041e\u0555",
    "P": "\u03a1\u0420",
    "R": "\u01a6",
    "S": "\u0405\u054f",
    "T": "\u03a4\u0422",
    "U": "\u054d",
    "V": "\u0474",
    "W": "\u051c",
    "X": "\u03a7\u0425\ua7b3",
    "Y": "\u03a5\u0423\u04ae",
    "Z": "\u0396",
    "a": "\u0251\u03b1\u0430",
    "b": "\u0184\u042c",
    "c": "\u0441\u1d04",
    "d": "\u0501",
    "e": "\u0435\u04bd\uab32",
    "f": "\u0584\u1e9d\ua799\uab35",
    "g": "\u018d\u0261\u0581\u1d83",
    "h": "\u04bb\u0570",
    "i": "\u0131\u0269\u026a\u03b9\u0456\u04cf\ua647",
    "j": "\u03f3\u0458",
    "l": "\u0196\u01c0\u0399\u0406\u04c0",
    "n": "\u0578\u057c",
    "o": "\u03bf\u03c3\u043e\u0585\u1d0f\u1d11\uab3d",
    "p": "\u03c1\u0440",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\uab47\uab48",
    "s": "\u01bd\u0455\ua731",
    "u": "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u026f\u0461\u051d\u0561\u1d21",
    "x": "\u0445",
    "y": "\u0263\u028f\u03b3\u0443\u04af\u1d8c\u1eff\uab5a",
    "z": "\u1d22",
}
_LOOKS: Final = str.maketrans(
    {letter: plain for plain, letters in LIKE.items() for letter in letters}
    | {"1": "l", "I": "l", "|": "l", "0": "O", "m": "rn"}
)
# Accents and the like, which are hard to see in small letters.
_MARKS: Final = dict.fromkeys(range(0x300, 0x370))


def looks(name: str) -> frozenset[str]:
    """Return what a name looks like; two names look alike if they have something of this in common.

    A capital I looks like an l, but is an i in lower case: both count.
    """
    return frozenset((_skeleton(_skeleton(name).casefold()), _skeleton(name.casefold())))


def _skeleton(text: str) -> str:
    """Return a text in plain letters; full-width letters and the like become the usual ones before."""
    return unicodedata.normalize("NFKD", "".join(filter(str.isprintable, text))).translate(_MARKS).translate(_LOOKS)
