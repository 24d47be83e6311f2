"""From the bytes of files to a catalog, with every problem of every file. Pure."""
