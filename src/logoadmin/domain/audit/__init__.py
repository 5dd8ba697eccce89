"""Changes of records: each is authorized, numbered, stored and recorded in the history."""
