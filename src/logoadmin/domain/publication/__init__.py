"""The verdict on CSS, the signed files for readers, and the shared settings (contract L, J8)."""
