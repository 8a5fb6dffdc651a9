import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  ApiError,
  Conflict,
  Forbidden,
  fieldError,
  InternalError,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
  UnsupportedMediaType,
  ValidationError
} from "../../../src/domain/Errors.ts"
import { inTenant } from "../../../src/http/api/Access.ts"
import { data } from "../../../src/http/api/Envelope.ts"
import { operation } from "../../../src/http/api/Operation.ts"
import { handlerGroups } from "../../../src/http/HandlerGroups.ts"
import { handleGroup } from "../../../src/http/server/Handlers.ts"
import { HandlerResult } from "../../../src/http/server/response/HandlerResult.ts"
import {
  assertFailure,
  internalText,
  tooManyRequestsText,
  unavailableText,
  validationErrorText
} from "../../support/assertions/failures.ts"
import { sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const secret = "password=hunter2"

const cycle: { self?: unknown } = {}
cycle.self = cycle

/** Defects of handlers, some of which the types forbid but code at run time can still cause. */
const defects = {
  dies: Effect.die(new Error(secret, { cause: new TypeError(secret) })),
  diesOfText: Effect.die(secret),
  throws: Effect.sync((): string => {
    throw new Error(secret)
  }),
  throwsAtOnce: "thrown by the handler itself",
  isInterrupted: Effect.zipRight(Effect.die(new Error(secret)), Effect.interrupt),
  failsWithSomethingElse: Effect.fail({ _tag: "SqlError", message: secret, status: 400 } as never),
  failsWithLookalike: Effect.fail({ _tag: "ValidationError", message: secret } as never),
  bigInt: Effect.succeed({ secret, value: 1n } as never),
  cycle: Effect.succeed({ secret, cycle } as never),
  throwingGetter: Effect.succeed({
    get value() {
      throw new Error(secret)
    }
  } as never),
  nothing: Effect.succeed(undefined as never),
  badHeader: Effect.succeed(new HandlerResult("fine", { headers: { "x-broken": `${secret}\r\nx-injected: 1` } }))
}
type Defect = keyof typeof defects
const isDefect = (name: string): name is Defect => name in defects

const failures: ReadonlyArray<readonly [error: ApiError, status: number, text: string]> = [
  [fieldError("name", "unique", "is taken"), 400, validationErrorText(["name", "unique", "is taken"])],
  [new ValidationError({ message: "No details" }), 400, `{"error":"ValidationError","message":"No details"}`],
  [new Unauthorized(), 401, `{"error":"Unauthorized","message":"Unauthorized"}`],
  [new Forbidden(), 403, `{"error":"Forbidden","message":"Forbidden"}`],
  [new NotFound(), 404, `{"error":"NotFound","message":"Not Found"}`],
  [new Conflict({ message: "Used before" }), 409, `{"error":"Conflict","message":"Used before"}`],
  [new PreconditionFailed(), 412, `{"error":"PreconditionFailed","message":"Precondition Failed"}`],
  [new PayloadTooLarge({ message: "Too much" }), 413, `{"error":"PayloadTooLarge","message":"Too much"}`],
  [new UnsupportedMediaType({ message: "Odd" }), 415, `{"error":"UnsupportedMediaType","message":"Odd"}`],
  [new TooManyRequests(), 429, tooManyRequestsText],
  [new InternalError(), 500, internalText],
  [new ServiceUnavailable(), 503, unavailableText]
]

const path = Schema.Struct({ name: Schema.String })

const failing = handleGroup(
  HttpApiGroup.make("failing")
    .add(
      HttpApiEndpoint.get("defect", "/defects/:name")
        .setPath(path)
        .addSuccess(data(Schema.String))
        .annotateContext(operation("Die", inTenant("VIEWER"), { description: "For this test." }))
    )
    .add(
      HttpApiEndpoint.get("failure", "/failures/:name")
        .setPath(path)
        .addSuccess(HttpApiSchema.NoContent)
        .annotateContext(operation("Fail", inTenant("VIEWER"), { description: "For this test." }))
    ),
  Effect.void,
  () => ({
    defect: ({ path: { name } }) => {
      const defect = isDefect(name) ? defects[name] : "unknown"
      if (typeof defect === "string") throw new Error(secret)
      return defect
    },
    failure: ({ path: { name } }) => Effect.fail(failures[Number(name)]?.[0] ?? new NotFound())
  })
)

describe("An error response", () => {
  let service: Service
  let token: string
  let tenant: string
  beforeAll(async () => {
    service = await startService({}, [...handlerGroups, failing])
    tenant = await service.newTenant("alice")
    token = await service.token("alice")
  })
  afterAll(() => service.stop())

  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    sendRaw(service.url, {
      method,
      path: `/api/v1${path}`,
      headers: { authorization: `Bearer ${token}`, "tenant-id": tenant, ...headers }
    })

  it.each(Object.keys(defects))("of a handler with the defect %s is a 500 without internal details", async (name) => {
    const response = await get(`/defects/${name}`)
    assertFailure(response, 500, internalText)
    assert.notInclude(JSON.stringify([...response.headers]), "hunter2")
    assert.isNull(response.headers.get("x-injected"))
  })

  it("of a defect is logged with its cause, request id, tenant and principal, but without the token", async () => {
    await get("/defects/dies", { "x-request-id": "the-defect", "x-api-key": "another-secret" })
    const lines = service.logs.map((line) => JSON.parse(line))
    const [line, ...more] = lines.filter(
      ({ annotations, logLevel }) => annotations.requestId === "the-defect" && logLevel === "ERROR"
    )
    assert.isEmpty(more)
    assert.deepInclude(line.annotations, {
      tenant,
      principal: { issuer: "urn:contracting:development", subject: "alice" },
      operation: "failing.defect"
    })
    assert.include(JSON.stringify(line), "hunter2")
    const [, payload = "", signature = ""] = token.split(".")
    for (const value of [token, payload, signature, "another-secret"]) {
      assert.notInclude(service.logs.join("\n"), value)
    }
  })

  it.each(failures)(
    "of a handler that fails with %s has the status and body of that error",
    async (error, status, text) => {
      const response = await get(`/failures/${failures.findIndex(([known]) => known === error)}`)
      assertFailure(response, status, text)
      assert.strictEqual(response.headers.has("retry-after"), status === 429 || status === 503)
      assert.strictEqual(response.headers.has("www-authenticate"), status === 401)
    }
  )

  it("is tested here for every member of ApiError", () => {
    const covered = new Set(failures.map(([{ _tag }]) => _tag))
    assert.sameMembers([...covered], ApiError.members.map(({ identifier }) => identifier) as Array<ApiError["_tag"]>)
  })

  it.each(["/clients", "/clients/clnt_unknown", "/defects/dies", "/failures/2", "/nowhere"])(
    "or a success to HEAD %s has the status and headers of GET and no body",
    async (path) => {
      const full = await get(path)
      const head = await get(path, {}, "HEAD")
      assert.deepStrictEqual([head.status, head.text], [full.status, ""])
      for (const name of ["content-type", "content-length", "etag"]) {
        assert.strictEqual(head.headers.get(name), full.headers.get(name), name)
      }
    }
  )
})

describe("The service at start", () => {
  const group = HttpApiGroup.make("odd")
  const endpoint = HttpApiEndpoint.get("get", "/odd").addSuccess(HttpApiSchema.NoContent)

  const errorOf = (start: Promise<unknown>) =>
    start.then(
      () => assert.fail("the service started"),
      (error: unknown) => String(error)
    )

  it("rejects an operation without an access rule", async () => {
    const odd = handleGroup(group.add(endpoint), Effect.void, () => ({ get: () => Effect.void }))
    assert.include(await errorOf(startService({}, [...handlerGroups, odd])), "odd.get")
  })

  it("rejects an operation without a handler", async () => {
    const annotated = endpoint.annotateContext(operation("Odd", inTenant("VIEWER"), { description: "For this test." }))
    const odd = handleGroup(group.add(annotated), Effect.void, () => ({}) as never)
    assert.include(await errorOf(startService({}, [...handlerGroups, odd])), "odd.get")
  })

  it("rejects two operations with the same method and path", async () => {
    const annotated = endpoint.annotateContext(operation("Odd", inTenant("VIEWER"), { description: "For this test." }))
    const twin = HttpApiEndpoint.get("twin", "/odd")
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Twin", inTenant("VIEWER"), { description: "For this test." }))
    const odd = handleGroup(group.add(annotated).add(twin), Effect.void, () => ({
      get: () => Effect.void,
      twin: () => Effect.void
    }))
    assert.include(await errorOf(startService({}, [...handlerGroups, odd])), "/odd")
  })
})
