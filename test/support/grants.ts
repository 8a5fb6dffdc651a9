import { Effect } from "effect"
import type pg from "pg"
import { Settings } from "../../src/layers/config/Settings.ts"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"
import { Secrets } from "../../src/layers/secrets/Secrets.ts"
import type { Service } from "./service.ts"

const secretsOf = (service: Service) =>
  Effect.runPromise(
    Secrets.pipe(Effect.provide(Secrets.Default), Effect.provideService(Settings, service.settings), Effect.scoped)
  )

interface Authorized {
  readonly provider: "JIRA" | "GOOGLE_DRIVE"
  readonly config?: object
}

/** Puts an integration into the database that somebody has authorized; tells its id. */
export const plantAuthorized = async (pool: pg.Pool, tenant: string, { config = {}, provider }: Authorized) => {
  const id = makeId("int")
  await pool.query(
    `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
       updated_at, sequence)
     values ($1, $2, $3, 'Authorized', 'ACTIVE', true, $4, '[]', now(), now(), 1)`,
    [tenant, id, provider, config]
  )
  return id
}

interface PlantedGrant {
  readonly tenant: string
  readonly integration: string
  readonly token: string
  readonly refresh?: string | undefined
  readonly generation?: number
  readonly site?: string
}

/** Puts a token in place of the one before, as if it had been given for an hour. */
export const plantGrant = async (service: Service, pool: pg.Pool, grant: PlantedGrant) => {
  const { generation = 1, integration, refresh, site, tenant, token } = grant
  const secrets = await secretsOf(service)
  const sealed = (column: string, text: string) =>
    secrets.seal(JSON.stringify(["grants", tenant, integration, column, generation]), Buffer.from(text))
  const refreshing = refresh === undefined ? null : sealed("refresh", refresh)
  await pool.query(
    `insert into grants (tenant_id, integration_id, generation, scopes, site_id, access, refresh, expires_at)
     values ($1, $2, $3, 'all', $4, $5, $6, now() + interval '1 hour')
     on conflict (tenant_id, integration_id) do update set generation = excluded.generation, access = excluded.access,
       refresh = excluded.refresh, site_id = excluded.site_id`,
    [tenant, integration, generation, site ?? null, sealed("access", token), refreshing]
  )
}

/** Seals a key of an endpoint as whoever made it would have. */
export const sealKey = async (service: Service, tenant: string, integration: string, hash: Buffer, key: string) =>
  (await secretsOf(service)).seal(
    JSON.stringify(["webhook_endpoints", tenant, integration, hash.toString("hex")]),
    Buffer.from(key)
  )
