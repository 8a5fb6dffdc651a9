import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { migrations } from "../../../../src/layers/infra/postgres/Migrations.ts"
import { parseMigration } from "../../../../src/layers/infra/postgres/migration/Migration.ts"
import { splitStatements } from "../../../../src/layers/infra/postgres/migration/SqlStatements.ts"
import { findMigrationErrors } from "../../../support/assertions/migrationRules.ts"

/** Migrations up to this one ran before the first release. */
const lastUnchecked = 11

const errorsOf = (text: string, ...earlier: ReadonlyArray<string>) =>
  findMigrationErrors(
    parseMigration("7000_new.sql", text),
    earlier.map((before, n) => parseMigration(`${6000 + n}_before.sql`, before))
  )

const rejected: Readonly<Record<string, string>> = {
  "create index i on clients (name)": "concurrently",
  "create unique index i on only clients (name)": "concurrently",
  "create index concurrently if not exists i on clients (name)": "-- no transaction",
  "alter table clients add column code uuid default gen_random_uuid()": "volatile default",
  "alter table clients add code bigserial": "rewritten",
  "alter table clients add column a int, add column code text not null": "give it a default",
  "alter table clients add column code text check (code <> '')": "not valid",
  "alter table clients add column code text references codes (id)": "not valid",
  "alter table clients add column code text unique": "concurrently",
  "alter table clients add constraint c check (name <> '')": "not valid",
  "alter table clients add constraint c foreign key (a, b) references other (a, b)": "not valid",
  "alter table clients add constraint c unique (name)": "using index",
  "alter table clients add check (name <> '')": "a name",
  "alter table clients alter column name set not null": "name is not null",
  "alter table clients alter name type varchar(10)": "new type",
  "ALTER TABLE clients\n  ALTER COLUMN name SET DATA TYPE text": "new type",
  "alter table clients rename column name to title": "previous release",
  "alter table clients rename to customers": "previous release",
  "alter table clients drop column name": "previous release",
  "alter table clients validate constraint c": "-- no transaction",
  "alter table clients set unlogged": "rewritten",
  "drop table clients": "previous release",
  "drop index clients_by_name": "concurrently",
  "lock table clients": "locks the whole table",
  "vacuum full clients": "locks the whole table",
  "truncate clients": "locks the whole table",
  "do $$ begin update clients set name = ''; end $$": "nobody can see",
  "alter table clients add column a int; update clients set a = 1": "file of its own",
  "create table sums (a int); insert into sums select count(*) from clients": "file of its own",
  "-- no transaction\nalter table clients add column a int": "cannot be undone",
  "-- no transaction\ncreate index concurrently i on clients (name)": "may run again",
  "-- no transaction\nvacuum full clients": "cannot be undone"
}

const accepted: ReadonlyArray<string> = [
  "create table codes (id text primary key, client text references clients (id)); create index i on codes (client)",
  "create table codes (id text); alter table codes add constraint c check (id <> ''); insert into codes values ('a')",
  "alter table clients add column a int, add column b numeric(10, 2) not null default 0, add column c timestamptz default now()",
  "alter table clients add constraint c check (name <> '') not valid",
  "alter table clients add constraint c unique using index i",
  "alter table clients drop constraint c, alter column name set default ''",
  "alter table clients set (autovacuum_vacuum_scale_factor = 0.01)",
  "update clients set name = trim(name)",
  "-- no transaction\ncreate index concurrently if not exists i on clients (name);\ndrop index concurrently if exists j;",
  "-- no transaction\nalter table clients validate constraint c",
  "-- Its rows live for minutes.\n-- accepted: the table is small\ncreate index i on oauth_states (id)",
  "create function f() returns trigger language plpgsql as $$ begin update clients set name = ''; return null; end $$"
]

describe("The migration rules", () => {
  for (const [text, message] of Object.entries(rejected))
    it(`reject: ${text}`, () => assert.match(errorsOf(text).join("\n"), new RegExp(message)))

  it("accept SET NOT NULL only after a validated check constraint", () => {
    const change = "alter table clients alter column name set not null"
    const check = "alter table clients add constraint named check (name is not null) not valid"
    const validate = "-- no transaction\nalter table clients validate constraint named;"
    assert.lengthOf(errorsOf(change, check), 1)
    assert.lengthOf(errorsOf(change, check, validate), 0)
  })

  for (const text of accepted) it(`accept: ${text}`, () => assert.deepStrictEqual(errorsOf(text), []))

  it("accept every migration since the first release", async () => {
    const all = await Effect.runPromise(migrations)
    const checked = all.filter(({ id }) => id > lastUnchecked)
    const found = checked.flatMap((one) =>
      findMigrationErrors(
        one,
        all.filter(({ id }) => id < one.id)
      )
    )
    assert.deepStrictEqual(found, [])
  })
})

describe("splitStatements", () => {
  it("splits at semicolons outside of quotes, function bodies and comments", () => {
    const bodies = [`select ';', "a;b"`, "do $x$ begin; end $x$", "/* a; */ select 1", "select 2 -- last; one"]
    assert.deepStrictEqual(
      splitStatements(`${bodies.join(";\n")}\n;\n-- nothing; more`).map((statement) => statement.replace(/\s*;$/, "")),
      bodies
    )
  })
})
