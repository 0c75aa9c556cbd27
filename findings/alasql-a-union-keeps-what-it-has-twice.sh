#!/usr/bin/env bash
# alasql 4.19.1 (SQLite of Python beside it)
#
# Tables in memory are asked in SQL: who ordered in spring or in autumn, who has which manager, and what came last.
#
# Expected: the answers of any database, as SQLite gives them: a union has each row once, someone without a manager's number has no manager, and the
# last of some texts is one of them.
# Seen: `UNION` keeps rows that stand twice in its second part (in the first they are taken once). Where both sides of a join are NULL they are equal,
# so who has no number gets each row that has none. `MAX` and `MIN` of texts and of ISO dates are missing. The README names
# UNION and JOIN among what works, and has no word of this.
#
# Why it matters: lists of customers and sums over joins are too long, only where data are missing or repeated.
#
# Output seen:
#   alasql: SELECT name FROM spring UNION SELECT name FROM autumn: Ann, Ben, Cem, Cem
#   alasql: SELECT name FROM autumn UNION SELECT name FROM spring: Ann, Ann, Ben, Cem
#   alasql: SELECT staff.name, bosses.title FROM staff JOIN bosses ON staff.boss = bosses.id: Ann head, Eva vacant
#   alasql: SELECT staff.name FROM staff LEFT JOIN bosses ON staff.boss = bosses.id WHERE bosses.title IS NULL: no rows
#   alasql: SELECT MIN(name) AS first, MAX(day) AS last FROM spring: nothing nothing
#   SQLite: SELECT name FROM spring UNION SELECT name FROM autumn: Ann, Ben, Cem
#   SQLite: SELECT name FROM autumn UNION SELECT name FROM spring: Ann, Ben, Cem
#   SQLite: SELECT staff.name, bosses.title FROM staff JOIN bosses ON staff.boss = bosses.id: Ann head
#   SQLite: SELECT staff.name FROM staff LEFT JOIN bosses ON staff.boss = bosses.id WHERE bosses.title IS NULL: Eva
#   SQLite: SELECT MIN(name) AS first, MAX(day) AS last FROM spring: Ann 2026-05-01
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit alasql@4.19.1 >/dev/null 2>&1

cat > rows.json <<'JSON'
{
  "tables": {
    "spring": [{ "name": "Ann", "day": "2026-03-01" }, { "name": "Ben", "day": "2026-04-01" }, { "name": "Ann", "day": "2026-05-01" }],
    "autumn": [{ "name": "Cem", "day": "2026-09-01" }, { "name": "Cem", "day": "2026-10-01" }],
    "staff": [{ "name": "Ann", "boss": 1 }, { "name": "Eva", "boss": null }],
    "bosses": [{ "id": 1, "title": "head" }, { "id": null, "title": "vacant" }]
  },
  "questions": [
    "SELECT name FROM spring UNION SELECT name FROM autumn",
    "SELECT name FROM autumn UNION SELECT name FROM spring",
    "SELECT staff.name, bosses.title FROM staff JOIN bosses ON staff.boss = bosses.id",
    "SELECT staff.name FROM staff LEFT JOIN bosses ON staff.boss = bosses.id WHERE bosses.title IS NULL",
    "SELECT MIN(name) AS first, MAX(day) AS last FROM spring"
  ]
}
JSON
cat > ask.mjs <<'JS'
import { readFileSync } from "node:fs";
import alasql from "alasql";

const { tables, questions } = JSON.parse(readFileSync("rows.json", "utf8"));
for (const [name, rows] of Object.entries(tables)) {
  alasql(`CREATE TABLE ${name}`);
  alasql.tables[name].data = rows;
}
for (const question of questions) {
  const rows = alasql(question).map((row) => Object.values(row).map((value) => value ?? "nothing").join(" ") || "nothing");
  console.log(`alasql: ${question}: ${rows.sort().join(", ") || "no rows"}`);
}
JS
cat > ask.py <<'PY'
import json, sqlite3
with open("rows.json") as file:
    data = json.load(file)
connection = sqlite3.connect(":memory:")
for name, rows in data["tables"].items():
    connection.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
    connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows])
for question in data["questions"]:
    rows = [" ".join("nothing" if value is None else str(value) for value in row) for row in connection.execute(question)]
    print(f"SQLite: {question}: {', '.join(sorted(rows)) or 'no rows'}")
PY
(node ask.mjs; python3 ask.py) | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
