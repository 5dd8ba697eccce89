"""The verdict on CSS, and the rewriting of its URLs (contract L4, L5)."""

from logoadmin.domain.publication.css.inlining import TooLarge as TooLarge
from logoadmin.domain.publication.css.inlining import inline as inline
from logoadmin.domain.publication.css.judging import TOO_LONG as TOO_LONG
from logoadmin.domain.publication.css.judging import documents_of as documents_of
from logoadmin.domain.publication.css.judging import judge as judge
from logoadmin.domain.publication.css.rewriting import rewrite as rewrite
from logoadmin.domain.publication.css.tokens import MAX_BLOCKS as MAX_BLOCKS
from logoadmin.domain.publication.css.tokens import has_too_many_blocks as has_too_many_blocks
