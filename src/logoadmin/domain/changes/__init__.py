"""Changes of records of every kind: history, undo, bulk changes, import and export."""
