"""SQL statements for PostgreSQL."""

from __future__ import annotations

from types import SimpleNamespace


def statements_of(schema: str, table: str) -> SimpleNamespace:
    """Return the statements for a table, with placeholders for psycopg.

    Schema and table may have any names, because they are quoted.  The generation of a row is its
    ``xmin``, the transaction that wrote it.
    """
    name = f"{_quoted(schema)}.{_quoted(table)}"
    literal = name.replace("'", "''")
    below = f"FROM {name} WHERE key >= %s AND key < %s"
    # The index returns the first key at or after a bound, independent of the number of keys.
    first = f"SELECT key FROM {name} WHERE key >= %(prefix)s AND {_UPTO} ORDER BY key LIMIT 1"
    return SimpleNamespace(
        look=f"SELECT to_regclass('{literal}')",
        create=(
            f'CREATE TABLE {name} (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL)',
            # Uncompressed and out of line, so that parts can be read efficiently.
            f"ALTER TABLE {name} ALTER value SET STORAGE EXTERNAL",
        ),
        get=f"SELECT value FROM {name} WHERE key = %s",
        get_limited="SELECT octet_length(value), CASE WHEN octet_length(value) <= %s THEN value "
        f"END FROM {name} WHERE key = %s",
        look_at=f"SELECT value, xmin::text FROM {name} WHERE key = %s",
        state=f"SELECT octet_length(value), xmin::text FROM {name} WHERE key = %s",
        open="SELECT octet_length(value), xmin::text, "
        "CASE WHEN octet_length(value) <= %(whole)s THEN value END, "
        "CASE WHEN octet_length(value) > %(whole)s THEN substring(value FROM "
        "CASE WHEN %(start)s < 0 THEN greatest(0, octet_length(value) + %(start)s::int) "
        "ELSE %(start)s::int END + 1 FOR %(length)s::int) END "
        f"FROM {name} WHERE key = %(key)s",
        read="SELECT substring(value FROM part.start + 1 FOR part.length) "
        f"FROM {name}, unnest(%s::int[], %s::int[]) "
        "WITH ORDINALITY AS part(start, length, number) "
        "WHERE key = %s AND xmin::text = %s ORDER BY part.number",
        set=f"INSERT INTO {name}(key, value) VALUES(%s, %b) "
        "ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        insert=f"INSERT INTO {name}(key, value) VALUES(%s, %b) ON CONFLICT(key) DO NOTHING",
        swap=f"UPDATE {name} SET value = %b WHERE key = %s AND xmin::text = %s",
        erase=f"DELETE FROM {name} WHERE key = ANY(%s)",
        erase_version=f"DELETE FROM {name} WHERE key = %s AND xmin::text = %s",
        erase_below=f"DELETE {below}",
        erase_all=f"DELETE FROM {name}",
        list_below=f"SELECT key {below}",
        list_all=f"SELECT key FROM {name}",
        # From each child, skip to the first key after everything below it: the number of
        # steps is the number of children, independent of the number of deeper keys.
        children=f"WITH RECURSIVE child(key) AS (({first}) UNION ALL "
        f"SELECT (SELECT key FROM {name} WHERE {_UPTO} AND key >= "
        "CASE position('/' IN substring(child.key FROM %(skip)s)) "
        "WHEN 0 THEN child.key || chr(1) ELSE substring(child.key FOR %(skip)s - 2 + "
        "position('/' IN substring(child.key FROM %(skip)s))) || '0' END "
        "ORDER BY key LIMIT 1) FROM child WHERE child.key IS NOT NULL) "
        "SELECT key FROM child WHERE key IS NOT NULL",
    )


_UPTO = "(%(end)s::text IS NULL OR key < %(end)s)"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""').replace("%", "%%")
    return f'"{doubled}"'
