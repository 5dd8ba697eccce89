"""The verdict on CSS, and copies of its imports (contract L4, L5)."""

from logoadmin.domain.publication.css.judging import TOO_LONG as TOO_LONG
from logoadmin.domain.publication.css.judging import judge as judge
from logoadmin.domain.publication.css.tokens import MAX_BLOCKS as MAX_BLOCKS
