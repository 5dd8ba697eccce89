"""Every change of a record: authorized, numbered, stored, and recorded in the history."""
