"""Second factors without storage or transactions: one-time passwords, QR codes, and codes that people type."""
