"""What mkdocs calls while it builds the site: it adds the API reference and the notebooks as pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
import api_pages
import notebooks


def on_files(files: Files, config: Any) -> Files:
    """Add generated pages; the notebooks themselves can be downloaded."""
    for path, text in {**api_pages.pages(), **notebooks.pages()}.items():
        files.append(File.generated(config, path, content=text))
    return files
