"""The verdict on CSS, and the rewriting of its URLs (contract L4, L5)."""

from logoadmin.domain.css.inlining import TooLarge as TooLarge
from logoadmin.domain.css.inlining import inline as inline
from logoadmin.domain.css.rewriting import rewrite as rewrite
from logoadmin.domain.css.tokens import MAX_BLOCKS as MAX_BLOCKS
from logoadmin.domain.css.tokens import has_too_many_blocks as has_too_many_blocks
from logoadmin.domain.css.verdict import TOO_LONG as TOO_LONG
from logoadmin.domain.css.verdict import documents_of as documents_of
from logoadmin.domain.css.verdict import judge as judge
