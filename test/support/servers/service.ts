import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HttpApiGroup } from "@effect/platform"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { type Dispatcher, request } from "undici"
import { inject } from "vitest"
import { makeApi } from "../../../src/http/api/Api.ts"
import { makeOpenApiDocument, type OpenApiDocument } from "../../../src/http/api/OpenApi.ts"
import { handlerGroups as everything } from "../../../src/http/HandlerGroups.ts"
import { type HandlerDependencies, HttpPort, httpLive } from "../../../src/http/Http.ts"
import type { HandlerGroup } from "../../../src/http/server/Handlers.ts"
import { signDevelopmentToken } from "../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { MigrationsLive } from "../../../src/layers/infra/postgres/Migrations.ts"
import { type ConformanceCheck, makeConformanceCheck } from "../assertions/conformance.ts"
import { brokerSettings } from "./brokerSettings.ts"
import { migratedDatabase } from "./database.ts"
import { captureLogs } from "./logCapture.ts"
import { deleteStreams, isClusterRun } from "./natsCluster.ts"
import type { RawResponse } from "./rawHttp.ts"

export interface CallOptions {
  /** The subject of the development token to send. A text with dots is sent as the token itself. */
  readonly as?: string
  readonly tenant?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServiceResponse extends RawResponse {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and the conformance check has seen them
  readonly body: any
}

const encodeBody = (body: unknown) =>
  typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)

const contentTypeOf = (body: unknown) => (body instanceof Uint8Array ? "application/octet-stream" : "application/json")

const headersOf = (received: Readonly<Record<string, string | Array<string> | undefined>>) =>
  new Headers(Object.entries(received).flatMap(([name, values = []]) => [values].flat().map((value) => [name, value])))

type HandlerGroups = ReadonlyArray<HandlerGroup<HttpApiGroup.HttpApiGroup.Any, never, HandlerDependencies>>

/** The document of an API and the check against it: expensive, and the same for almost every service of a run. */
const documents = new Map<HandlerGroups, { document: OpenApiDocument; assertConforms: ConformanceCheck }>()

const documentOf = (groups: HandlerGroups) => {
  const known = documents.get(groups)
  if (known !== undefined) return known
  const document = makeOpenApiDocument(makeApi(groups.map(({ group }) => group)))
  const created = { document, assertConforms: makeConformanceCheck(document) }
  documents.set(groups, created)
  return created
}

/** The service in this process, on a database of its own, with every response checked against its OpenAPI document. */
export const startOwnService = async (
  environment: Readonly<Record<string, string>> = {},
  groups: HandlerGroups = everything,
  poolerUrl = inject("pooledUrl")
) => {
  const database = await migratedDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), "contracting-service-"))
  const settings = await Effect.runPromise(
    readSettings({
      DATA_DIR: dataDir,
      ...(environment["DATABASE_URL"] === undefined ? database.settingsAt(poolerUrl) : {}),
      ...brokerSettings(environment["NATS_URL"]),
      NATS_NAMESPACE: database.name,
      DELIVERY_ALLOW: "127.0.0.0/8",
      PORT: "0",
      ...environment
    })
  )
  const logs: Array<string> = []
  const scope = Effect.runSync(Scope.make())
  const live = httpLive(groups).pipe(
    Layer.provide(MigrationsLive),
    Layer.provide(SqlLive),
    Layer.provide(Layer.succeed(Settings, settings)),
    Layer.provide(captureLogs(logs))
  )
  const stop = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (isClusterRun && environment["NATS_URL"] === undefined) await deleteStreams(settings)
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  const built = await Effect.runPromise(Layer.buildWithScope(live, scope)).catch(async (cause: unknown) => {
    await stop()
    throw cause
  })
  const port = Context.get(built, HttpPort)
  const url = `http://127.0.0.1:${port}`
  const { assertConforms, document } = documentOf(groups)
  const tokens = new Map<string, Promise<string>>()
  /** The development token of a subject, signed once. */
  const token = (subject: string) => {
    const signing =
      tokens.get(subject) ??
      Effect.runPromise(signDevelopmentToken(subject, 3600).pipe(Effect.provideService(Settings, settings)))
    tokens.set(subject, signing)
    return signing
  }

  /** Sends one request. Text and bytes are sent unchanged, any other body as JSON. */
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<ServiceResponse> => {
    const { as, body, headers = {}, tenant } = options
    const response = await request(url + path, {
      // The server rejects a method that it does not know.
      method: method as Dispatcher.HttpMethod,
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as.includes(".") ? as : await token(as)}` }),
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined ? {} : { "content-type": contentTypeOf(body) }),
        ...headers
      },
      ...(body === undefined ? {} : { body: encodeBody(body) })
    })
    const text = await response.body.text()
    const status = response.statusCode
    const received = headersOf(response.headers)
    const contentType = received.get("content-type")
    if (path.startsWith("/api/")) assertConforms({ method, path, status, contentType, text })
    const isJson = contentType?.startsWith("application/json") && text !== ""
    return {
      status,
      headers: received,
      text,
      sent: { path, headers, body },
      body: isJson ? JSON.parse(text) : undefined
    }
  }

  const api = (method: string, path: string, options?: CallOptions) => call(method, `/api/v1${path}`, options)

  /** Creates a tenant that `owner` owns. */
  const newTenant = async (owner = "owner") => {
    const { body } = await api("POST", "/tenants", { as: owner, body: { name: "Tenant" } })
    return String(body.data.id)
  }

  return { url, api, call, token, newTenant, document, assertConforms, database, logs, dataDir, settings, stop }
}

export type Service = Awaited<ReturnType<typeof startOwnService>>

let shared: Promise<Service> | undefined

/** It runs until the worker ends, and with it the server of its database. */
const shareService = async (): Promise<Service> => {
  shared ??= startOwnService()
  return { ...(await shared), stop: async () => {} }
}

/**
 * Without settings, the service that all test files of a worker share: each has tenants of its own, which see nothing of
 * each other. With settings, a service and a database of its own.
 */
export const startService = (environment?: Readonly<Record<string, string>>, groups?: HandlerGroups) =>
  environment === undefined && groups === undefined && !isClusterRun
    ? shareService()
    : startOwnService(environment, groups)
