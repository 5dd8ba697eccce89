"""How the tables came to be, step by step. Steps are only ever added: somebody has run each of them."""
