import { Effect } from "effect"
import pg from "pg"
import { Pool } from "undici"
import { makeId } from "../../src/layers/infra/postgres/IdGenerator.ts"
import { connections } from "../load.ts"
import type { Server } from "../serverProcess.ts"
import { databasePoolSize } from "../servers.ts"
import type { JiraIntegration } from "./jiraIntegration.ts"
import type { Webhook } from "./webhooks.ts"

/** A target that receives webhooks. `send` returns whether it accepted the webhook. */
export interface WebhookTarget {
  readonly name: string
  readonly send: (webhook: Webhook) => Promise<boolean>
}

/** Sends webhooks to the service as Jira does. */
export const connectServiceTarget = ({ baseUrl }: Pick<Server, "baseUrl">, { key }: JiraIntegration) =>
  Effect.acquireRelease(
    Effect.sync(() => new Pool(baseUrl, { connections })),
    (pool) => Effect.promise(() => pool.close())
  ).pipe(
    Effect.map(
      (pool): WebhookTarget => ({
        name: "service",
        send: async ({ bearer, body, identifier }) => {
          const response = await pool.request({
            method: "POST",
            path: `/api/v1/webhooks/${key}`,
            headers: {
              authorization: `Bearer ${bearer}`,
              "content-type": "application/json; charset=utf-8",
              "x-atlassian-webhook-identifier": identifier
            },
            body
          })
          return (await response.body.text()) === '{"data":{"accepted":true}}' && response.statusCode === 200
        }
      })
    )
  )

const insertWebhook = `
  insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at, body,
    status, received_at)
  values ($1, $2, $3, $4, 'jira:issue_updated', $5, $6, $7, $8, 'RECEIVED', now()) on conflict do nothing`

/** The baseline: inserts the same rows directly, over as many connections as the service has. */
export const connectInsertTarget = (connectionString: string, { id, tenant }: JiraIntegration) =>
  Effect.acquireRelease(
    Effect.sync(() => new pg.Pool({ connectionString, max: databasePoolSize })),
    (pool) => Effect.promise(() => pool.end())
  ).pipe(
    Effect.map(
      (pool): WebhookTarget => ({
        name: "bare inserts",
        send: async ({ body, happenedAt, identifier, issue, key }) => {
          const values = [tenant, makeId("whk"), id, identifier, issue, key, happenedAt, body]
          await pool.query({ name: "insert", text: insertWebhook, values })
          return true
        }
      })
    )
  )
