"""Read a catalog and do nothing with it: python -m bench.parsing FOLDER. The floor of a render."""

import sys
from pathlib import Path

from roadstead.capabilities.services.reading.catalog import read_catalog
from roadstead.capabilities.services.reading.texts import Text


def main(folder: Path) -> None:
    """Files to a catalog."""
    texts = [
        Text(path.name, path.read_bytes()) for path in sorted((folder / "catalog").glob("*.yaml"))
    ]
    read = read_catalog(texts, Text("platform.yaml", (folder / "platform.yaml").read_bytes()))
    assert read.catalog is not None
    assert len(read.catalog.services) == len(texts)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
