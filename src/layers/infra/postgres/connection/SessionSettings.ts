import { Duration } from "effect"

/**
 * Bounds how long a statement, a lock or an idle transaction occupies a connection. Random reads cost hardly more than
 * sequential ones, as on SSDs.
 */
export const sessionSettings = {
  timezone: "UTC",
  random_page_cost: 1.1,
  statement_timeout: Duration.toMillis("15 seconds"),
  lock_timeout: Duration.toMillis("2 seconds"),
  idle_in_transaction_session_timeout: Duration.toMillis("20 seconds")
}

export type SessionSettings = typeof sessionSettings

const assign = ([name, value]: [string, string | number]) => `${name} = '${value}'`

/**
 * Statements instead of parameters of the startup packet, which PgBouncer rejects. Behind PgBouncer in transaction mode
 * they reach any one connection; the others have the settings of the role.
 */
export const setSession = (settings: SessionSettings) =>
  Object.entries(settings)
    .map((entry) => `set ${assign(entry)}`)
    .join("; ")

/**
 * Makes the settings the defaults of our role in this database, for connections that PgBouncer opens. Changes only what
 * differs, because concurrent changes of a role fail.
 */
export const setRoleDefaults = `do $$
declare
  present text[] := coalesce((
    select s.setconfig from pg_db_role_setting s, pg_database d, pg_roles r
    where s.setdatabase = d.oid and d.datname = current_database() and s.setrole = r.oid and r.rolname = current_user), '{}');
  wanted record;
begin
  for wanted in select * from (values ${Object.entries(sessionSettings)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(", ")}) as settings (name, value) loop
    if not exists (select from unnest(present) entry where lower(entry) = wanted.name || '=' || lower(wanted.value)) then
      execute format('alter role current_user in database %I set %I = %L', current_database(), wanted.name, wanted.value);
    end if;
  end loop;
end $$`
