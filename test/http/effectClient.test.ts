import { FetchHttpClient, HttpApiClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, ParseResult } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ClientId } from "../../src/domain/contracting/Client.ts"
import { ContractId } from "../../src/domain/contracting/Contract.ts"
import { ProjectId } from "../../src/domain/contracting/Project.ts"
import { Forbidden, NotFound, PreconditionFailed, Unauthorized, ValidationError } from "../../src/domain/Errors.ts"
import { Api, makeApi } from "../../src/http/api/Api.ts"
import { ClientsApi } from "../../src/http/contracting/ClientsApi.ts"
import { ContractsApi } from "../../src/http/contracting/ContractsApi.ts"
import { ProjectsApi } from "../../src/http/contracting/ProjectsApi.ts"
import { TenantsApi } from "../../src/http/tenancy/TenantsApi.ts"
import { type Service, startService } from "../support/servers/service.ts"

/** The API without its handlers, as another program would import it. */
const ContractingApi = makeApi([TenantsApi, ClientsApi, ContractsApi, ProjectsApi])

const run = <A, E>(program: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.runPromise(Effect.provide(program, FetchHttpClient.layer))

describe("An Effect HttpApiClient", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const connect = (headers: Readonly<Record<string, string>>) =>
    HttpApiClient.make(ContractingApi, {
      baseUrl: service.url,
      transformClient: HttpClient.mapRequest(HttpClientRequest.setHeaders(headers))
    })

  const authorizationOf = (subject: string) =>
    Effect.promise(() => service.token(subject)).pipe(Effect.map((token) => `Bearer ${token}`))

  /** An API client in a new tenant that has a contract. */
  const connectToNewTenant = Effect.gen(function* () {
    const authorization = yield* authorizationOf("alice")
    const { tenants } = yield* connect({ authorization })
    const tenant = yield* tenants.create({ payload: { name: "Harbour Works" } })
    const api = yield* connect({ authorization, "tenant-id": tenant.id })
    const client = yield* api.clients.create({ payload: { name: "Northwind" } })
    const contract = yield* api.contracts.create({
      payload: { clientId: client.id, name: "Maintenance", currencyCode: "EUR", status: "DRAFT", paymentTermDays: 14 }
    })
    return { api, authorization, client, contract, tenant }
  })

  it("creates, changes, reads and removes a project", () =>
    run(
      Effect.gen(function* () {
        const { api, client, contract } = yield* connectToNewTenant
        assert.deepInclude(contract, { client: client.id, status: "DRAFT", paymentTermDays: 14 })

        const created = yield* api.projects.create({ payload: { contractId: contract.id, name: "Pumps", order: 1 } })
        const path = { projectId: created.id }
        const changed = yield* api.projects.patch({ path, payload: { order: null, description: "And valves" } })
        const { order: _, updatedAt: __, ...unchanged } = created
        assert.deepStrictEqual(changed, { ...unchanged, description: "And valves", updatedAt: changed.updatedAt })

        assert.deepStrictEqual(yield* api.projects.get({ path, urlParams: {} }), changed)
        const expanded = yield* api.projects.get({ path, urlParams: { expand: ["contract", "contract.client"] } })
        assert.deepStrictEqual(expanded, { ...changed, contract: { ...contract, client } })

        assert.isUndefined(yield* api.projects.remove({ path }))
        const after = yield* Effect.flip(api.projects.get({ path, urlParams: {} }))
        assert.deepStrictEqual(after, new NotFound())
      })
    ))

  it("reads the pages of a list", () =>
    run(
      Effect.gen(function* () {
        const { api, contract } = yield* connectToNewTenant
        const create = (order: number) =>
          api.projects.create({ payload: { contractId: contract.id, name: `Part ${order}`, order } })
        const [first, second, third] = yield* Effect.all([create(1), create(2), create(3)])
        const [page, response] = yield* api.projects.list({
          urlParams: { limit: 2, contractId: contract.id },
          withResponse: true
        })
        assert.deepStrictEqual(page, [first, second])
        assert.include(response.headers.link, `rel="next"`)
        // A page starts after any item, so the last item serves as cursor.
        const next = yield* api.projects.list({ urlParams: { limit: 2, cursor: second } })
        assert.deepStrictEqual(next, [third])
      })
    ))

  it("fails with the tagged errors of the service", () =>
    run(
      Effect.gen(function* () {
        const { api, authorization, client, contract, tenant } = yield* connectToNewTenant

        const orphan = yield* api.projects
          .create({ payload: { contractId: ContractId.make("ctr_none"), name: "Pumps" } })
          .pipe(
            Effect.as(undefined),
            Effect.catchTag("NotFound", ({ message }) => Effect.succeed(message))
          )
        assert.strictEqual(orphan, "Not Found")

        const absent = yield* api.clients
          .get({ path: { clientId: ClientId.make("clnt_none") } })
          .pipe(Effect.catchTag("NotFound", ({ message }) => Effect.succeed(message)))
        assert.strictEqual(absent, "Not Found")

        const errorWith = (headers: Readonly<Record<string, string>>) =>
          Effect.flatMap(connect(headers), ({ clients }) =>
            Effect.flip(clients.patch({ path: { clientId: client.id }, payload: { order: 1 } }))
          )
        const inTenant = { authorization, "tenant-id": tenant.id }
        assert.instanceOf(yield* errorWith({}), Unauthorized)
        assert.instanceOf(yield* errorWith({ ...inTenant, authorization: yield* authorizationOf("bob") }), Forbidden)
        assert.instanceOf(yield* errorWith({ ...inTenant, "if-match": `"another"` }), PreconditionFailed)
        assert.instanceOf(yield* errorWith({ authorization }), ValidationError)

        const ended = yield* Effect.flip(
          api.contracts.patch({ path: { contractId: contract.id }, payload: { status: "ENDED" } })
        )
        const details = [
          {
            field: "status",
            constraint: "state",
            message: "cannot change from DRAFT to ENDED: DRAFT can only change to ACTIVE"
          }
        ]
        assert.deepStrictEqual(ended, new ValidationError({ message: "Request validation failed", details }))
      })
    ))

  it("rejects an invalid request before it sends it", () =>
    run(
      Effect.gen(function* () {
        const { api } = yield* connectToNewTenant
        const errors = yield* Effect.all([
          Effect.flip(api.clients.create({ payload: { name: "" } })),
          Effect.flip(api.projects.patch({ path: { projectId: ProjectId.make("prj_none") }, payload: {} }))
        ])
        for (const error of errors) assert.isTrue(ParseResult.isParseError(error), String(error))
      })
    ))

  it("can be generated from the whole API", () =>
    run(
      Effect.gen(function* () {
        const authorization = yield* authorizationOf("alice")
        const api = yield* HttpApiClient.make(Api, {
          baseUrl: service.url,
          transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("authorization", authorization))
        })
        const tenant = yield* api.tenants.create({ payload: { name: "Harbour Works" } })
        assert.deepStrictEqual(yield* api.tenants.get({ path: { tenantId: tenant.id } }), tenant)
      })
    ))
})
