import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { constraints } from "../../src/domain/Constraints.ts"
import { ApiError, InternalError, ServiceUnavailable, TooManyRequests } from "../../src/domain/Errors.ts"
import { errorBodyOf, errorStatusOf } from "../../src/http/server/response/WireErrors.ts"
import { invoiceClient, lineOf } from "../support/fixtures/invoices.ts"
import { addMember } from "../support/fixtures/members.ts"
import { resourceMaker } from "../support/fixtures/resources.ts"
import { type Service, startService } from "../support/servers/service.ts"

const document = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")

/** The examples under a heading: a request, unless no request can cause the error, and the body of the response. */
const examplesUnder = (heading: string) =>
  (document.split(`## ${heading}\n`)[1] ?? "")
    .split(/^## /m, 1)
    .flatMap((chapter) => chapter.split(/^### /m).slice(1))
    .map((section) => {
      const [title = "", description = ""] = section.split("\n\n", 2)
      const blockOf = (language: string) => section.split(`\`\`\`${language}\n`)[1]?.split("\n```", 1)[0]
      return { title: title.replaceAll("`", ""), description, request: blockOf("http"), body: blockOf("json") ?? "" }
    })

const statusExamples = examplesUnder("Status codes")
const constraintExamples = examplesUnder("Constraints")

/** Errors that a test cannot cause by one request. */
const sporadic: ReadonlyArray<ApiError> = [new TooManyRequests(), new InternalError(), new ServiceUnavailable()]

const withoutIds = (text: string) => text.replace(/\b([a-z]{3,4})_[a-z0-9]+/g, "$1_…")
const normalized = (json: string) => JSON.parse(withoutIds(json))

describe("docs/errors.md", () => {
  let service: Service
  let tenant: string
  let placeholders: Readonly<Record<string, string>>
  beforeAll(async () => {
    service = await startService({ MAX_MEMBERS: "2" })
    tenant = await service.newTenant()
    await addMember(service, tenant, "viewer", "VIEWER")
    const client = (await resourceMaker(service, tenant).make("clients")).id
    const invoices = invoiceClient(service, tenant)
    const contracts = await Promise.all(Array.from({ length: 3 }, () => invoices.contract({ clientId: client })))
    const contractId = contracts[0]?.id
    await invoices.invoiceIn("FINALIZED", { contractId }, { referenceType: "order", referenceId: "order-7" })
    await service.api("POST", "/clients", {
      as: "owner",
      tenant,
      body: { name: "Northwind" },
      headers: { "idempotency-key": "first-import-7" }
    })
    placeholders = {
      client,
      draftInvoice: (await invoices.draft({ contractId })).id,
      voidInvoice: (await invoices.invoiceIn("VOID", { contractId })).id,
      billedOrder: "order-7",
      usedKey: "first-import-7",
      viewerToken: await service.token("viewer"),
      "1001Billables": JSON.stringify(Array.from({ length: 1001 }, () => lineOf())),
      largeBody: JSON.stringify({ name: "n".repeat(1024 * 1024) })
    }
  })
  afterAll(() => service.stop())

  /** Sends a request of the document. */
  const send = async (request: string) => {
    const filled = request.replace(/\{(\w+)\}/g, (placeholder, name: string) => placeholders[name] ?? placeholder)
    const [head = "", body] = filled.split("\n\n", 2)
    const [start = "", ...headerLines] = head.split("\n")
    const [method = "", path = ""] = start.split(" ")
    const headers = Object.fromEntries(headerLines.map((line) => line.split(": ", 2)))
    return service.call(method, path, {
      ...("authorization" in headers ? {} : { as: "owner" }),
      tenant,
      headers,
      ...(body === undefined ? {} : { body })
    })
  }

  it("lists every error with its status", () => {
    const documented = [...document.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, status, error]) => [status, error])
    assert.deepStrictEqual(
      documented.map(([, error]) => error),
      ApiError.members.map(({ identifier }) => identifier)
    )
    assert.deepStrictEqual(
      statusExamples.map(({ title }) => title),
      documented.map((cells) => cells.join(" "))
    )
  })

  it.each(statusExamples)("shows the response of $title", async ({ body, request, title }) => {
    if (request === undefined) {
      const error = sporadic.find(({ _tag }) => title.endsWith(_tag)) ?? assert.fail(`no request for ${title}`)
      assert.strictEqual(title, `${errorStatusOf(error)} ${error._tag}`)
      return assert.deepStrictEqual(JSON.parse(body), JSON.parse(errorBodyOf(error)))
    }
    const response = await send(request)
    assert.strictEqual(`${response.status} ${response.body.error}`, title)
    return assert.deepStrictEqual(response.body, JSON.parse(body))
  })

  it("explains every constraint in the words of the catalogue", () => {
    assert.deepStrictEqual(
      constraintExamples.map(({ description, title }) => [title, description]),
      Object.entries(constraints)
    )
  })

  it.each(constraintExamples)(
    "shows a request that violates the constraint $title",
    async ({ body, request, title }) => {
      const response = await send(request ?? assert.fail("no request"))
      assert.strictEqual(response.status, 400, response.text)
      assert.deepStrictEqual(normalized(response.text), normalized(body))
      assert.strictEqual(response.body.details[0].constraint, title)
    }
  )
})
