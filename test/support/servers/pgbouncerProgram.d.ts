/** Types of scripts/pgbouncer.mjs, as far as tests use it. */
declare module "*/scripts/pgbouncer.mjs" {
  /** Returns the command that runs PgBouncer 1.21 or newer. */
  export const installPgBouncer: () => { readonly command: string; readonly args: ReadonlyArray<string> }
}
