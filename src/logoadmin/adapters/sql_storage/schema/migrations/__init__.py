"""The migrations of the tables. Existing migrations never change, since databases have applied them."""
