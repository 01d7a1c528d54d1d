# Texts of C sources, one per line: FILE:LINE, a tab, "c" (a comment) or "s" (strings that follow each other), a tab, the text.
