import type pg from "pg"
import { holdRow } from "./heldRow.ts"

/**
 * Holds a tenant's row as a decision about its members does, so that requests pile up behind it: all of them were let
 * in before any of them is decided.
 */
export const holdTenant = (pool: pg.Pool, tenant: string) =>
  holdRow(pool, "select 1 from tenants where id = $1 for no key update", tenant)
