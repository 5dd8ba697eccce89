"""The verdict on CSS, and the rewriting of its URLs (contract L4, L5)."""

from logoadmin.domain.css.rewriting import rewrite as rewrite
from logoadmin.domain.css.verdict import judge as judge
