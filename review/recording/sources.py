"""Names places in a program's own files, relative to the program's folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote, urlsplit

_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Sources:
    """The files of one program; what is installed inside its folder is not its own."""

    def __init__(self, directory: Path) -> None:
        self._roots = tuple(dict.fromkeys((directory, directory.resolve())))
        self._uris: dict[str, str | None] = {}
        self._names: dict[str, str | None] = {}

    def uri(self, filename: str) -> str | None:
        """The URI of one of the program's own files, or None."""
        if filename not in self._uris:
            self._uris[filename] = Path(filename).as_uri() if self._own(filename) else None
        return self._uris[filename]

    def name(self, uri: str) -> str | None:
        """The relative name of one of the program's own files, or None."""
        if uri not in self._names:
            self._names[uri] = self._own(unquote(urlsplit(uri).path))
        return self._names[uri]

    def relative(self, filename: str) -> str | None:
        """The relative name of one of the program's own files, or None."""
        return self._own(filename)

    def last(self, traceback: TracebackType | None) -> str | None:
        """The innermost place of a traceback that is in the program's own files, as `file:line`, or None."""
        place = None
        while traceback is not None:
            name = self.relative(traceback.tb_frame.f_code.co_filename)
            place = f"{name}:{traceback.tb_lineno}" if name else place
            traceback = traceback.tb_next
        return place

    def _own(self, filename: str) -> str | None:
        path = Path(filename)
        if not path.is_absolute() or not _INSTALLED.isdisjoint(path.parts):
            return None
        for root in self._roots:
            if path.is_relative_to(root) and not self._in_environment(path, root):
                return path.relative_to(root).as_posix()
        return None

    def _in_environment(self, path: Path, root: Path) -> bool:
        environment = Path(sys.prefix)
        return environment.is_relative_to(root) and path.is_relative_to(environment)
