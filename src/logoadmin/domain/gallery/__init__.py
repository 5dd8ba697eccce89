"""The gallery: logos, themes and their authors, and the settings that administrators decide for everybody."""
