"""A cloud of the tests: a folder that holds what exists, what was asked, and how it is told to fail.

The engine starts several provider processes; they, and the tests, share the folder through SQLite.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

How = Literal["refuse", "throttle", "hang", "lose"]
"""An error at once; "too many requests"; no answer; done, but the answer is lost."""

ACCOUNT, PROJECT_NUMBER = "111122223333", "123456789012"

SECONDS_TO_WAIT_FOR_OTHERS = 60.0

TABLES = """
create table if not exists settings (name text primary key, value text not null);
create table if not exists things (
    kind text not null, id text not null, inputs text not null, outputs text not null, gone integer not null,
    planted integer not null default 0,
    primary key (kind, id, gone));
create table if not exists calls (operation text not null, kind text not null, id text not null, outcome text not null);
create table if not exists faults (operation text not null, kind text not null, how text not null, times integer);
"""


@dataclass(frozen=True)
class Thing:
    """Something that exists."""

    kind: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """Something that was asked."""

    operation: str
    """create, update, delete, read or invoke."""
    kind: str
    """Pulumi's type, or its function."""
    id: str
    outcome: str
    """done, hung, lost, throttled, or the code of the refusal."""


class Cloud:
    """A cloud in a folder. Made anew, or opened where there is one."""

    def __init__(self, folder: Path, plane_url: str = "", plane_ca: str = "", *, account: str = ACCOUNT) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._own = threading.local()
        self._connection().executescript(TABLES)
        given = {"plane_url": plane_url, "plane_ca": plane_ca}
        for name, value in given.items():
            if value:
                self.set(name, value)
        if self.setting("account") is None:
            self.set("account", account)

    @property
    def environment(self) -> dict[str, str]:
        """What the engine's environment needs, PATH apart: its first folder is to be `clouds/bin`."""
        return {"GPUYARD_CLOUD": str(self.folder), "GPUYARD_PYTHON": sys.executable}

    @property
    def programs(self) -> Path:
        """The folder with `aws` and `gke-gcloud-auth-plugin`."""
        return Path(__file__).with_name("bin")

    def resources(self, kind: str | None = None) -> list[Thing]:
        """What exists, oldest first; of one type, where it is given."""
        return self._things("gone = 0", kind)

    def left(self) -> list[Thing]:
        """What exists and was not there before any provider worked: what a destroy forgot."""
        return self._things("gone = 0 and planted = 0", None)

    def remains(self) -> list[Thing]:
        """What was deleted as far as the cloud deletes such things: keys to be destroyed later, and key rings."""
        return self._things("gone = 1", None)

    def calls(self, operation: str | None = None, kind: str = "*") -> list[Call]:
        """What was asked, oldest first."""
        rows = self._connection().execute("select operation, kind, id, outcome from calls order by rowid")
        every = [Call(*row) for row in rows]
        return [c for c in every if operation in (None, c.operation) and fnmatch.fnmatchcase(c.kind, kind)]

    def fail(self, operation: str, kind: str, how: How, times: int = 1) -> None:
        """Lets the next calls fail. `operation` may be "*", `kind` a pattern such as "aws:eks/*"."""
        with self.transaction() as connection:
            connection.execute("insert into faults values (?, ?, ?, ?)", (operation, kind, how, times))

    def recover(self) -> None:
        """Takes back the failures that have not come yet."""
        with self.transaction() as connection:
            connection.execute("delete from faults")

    def delay(self, seconds: float) -> None:
        """How long each creation, update and deletion takes to answer, after it is done."""
        self.set("seconds", seconds)

    def login(self, token: str) -> None:
        """The token by which the deploying identity enters the cluster."""
        self._write_login({"token": token})

    def expire_login(self, how: Literal["expired", "rejected"] = "expired") -> None:
        """From now on the identity has expired, so that there is no token; or the cluster rejects its token."""
        self._write_login({"how": how})

    def _write_login(self, login: Mapping[str, str]) -> None:
        new = self.folder / f"login.{os.getpid()}"
        new.touch(mode=0o600)
        new.write_text(json.dumps(login), encoding="utf-8")
        new.replace(self.folder / "login.json")

    def setting(self, name: str) -> Any:
        """A fact of this cloud; None where it was not set."""
        row = self._connection().execute("select value from settings where name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    def set(self, name: str, value: Any) -> None:
        """Sets a fact of this cloud."""
        with self.transaction() as connection:
            connection.execute("insert or replace into settings values (?, ?)", (name, json.dumps(value)))

    def find(self, kind: str, name: str) -> Thing | None:
        """What exists of a type under an id."""
        return next((thing for thing in self._things("gone = 0 and id = ?", kind, name)), None)

    def put(self, thing: Thing, *, planted: bool = False) -> None:
        """Makes a thing exist as it is given; a planted one was there before."""
        self._put(thing, planted=planted)

    def is_planted(self, thing: Thing) -> bool:
        """Whether a thing was there before any provider worked."""
        return any(other == thing for other in self._things("planted = 1", thing.kind))

    def drift(self, kind: str, name: str, changed: Mapping[str, Any]) -> None:
        """Changes inputs of a thing, as somebody does who goes past the program."""
        thing = self.find(kind, name)
        assert thing is not None, f"{kind} {name} does not exist"
        self.put(Thing(kind, name, {**thing.inputs, **changed}, {**thing.outputs, **changed}))

    def remove(self, thing: Thing, *, remains: bool = False) -> None:
        """Ends a thing; one that remains is no resource any more, and yet not gone."""
        with self.transaction() as connection:
            connection.execute("delete from things where kind = ? and id = ?", (thing.kind, thing.id))
            if remains:
                self._put(thing, gone=True)

    def log(self, operation: str, kind: str, name: str, outcome: str) -> None:
        """Notes what was asked, and how it ended."""
        with self.transaction() as connection:
            connection.execute("insert into calls values (?, ?, ?, ?)", (operation, kind, name, outcome))

    def take_fault(self, operation: str, kind: str) -> How | None:
        """How this call is to fail; each failure is taken once."""
        with self.transaction() as connection:
            rows = connection.execute("select rowid, operation, kind, how from faults where times > 0 order by rowid")
            for row, asked, pattern, how in rows.fetchall():
                if asked in ("*", operation) and fnmatch.fnmatchcase(kind, pattern):
                    connection.execute("update faults set times = times - 1 where rowid = ?", (row,))
                    chosen: How = how
                    return chosen
        return None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, one at a time; within another it is part of that."""
        connection = self._connection()
        if connection.in_transaction:
            yield connection
            return
        connection.execute("begin immediate")
        try:
            yield connection
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")

    def _put(self, thing: Thing, *, gone: bool = False, planted: bool = False) -> None:
        row = (thing.kind, thing.id, json.dumps(thing.inputs), json.dumps(thing.outputs), gone, planted)
        with self.transaction() as connection:
            connection.execute(
                "insert into things values (?, ?, ?, ?, ?, ?) "
                "on conflict do update set inputs = excluded.inputs, outputs = excluded.outputs",
                row,
            )

    def _things(self, condition: str, kind: str | None, *values: str) -> list[Thing]:
        query = f"select kind, id, inputs, outputs from things where {condition}"  # noqa: S608
        if kind is not None:
            query, values = f"{query} and kind = ?", (*values, kind)
        rows = self._connection().execute(f"{query} order by rowid", values)
        return [Thing(kind, name, json.loads(inputs), json.loads(outputs)) for kind, name, inputs, outputs in rows]

    def _connection(self) -> sqlite3.Connection:
        """Each thread has its own."""
        if not hasattr(self._own, "connection"):
            path = self.folder / "cloud.db"
            # autocommit: transactions begin where `transaction` says so.
            connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT_FOR_OTHERS, isolation_level=None)
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = off")
            self._own.connection = connection
        connection = self._own.connection
        assert isinstance(connection, sqlite3.Connection)
        return connection
