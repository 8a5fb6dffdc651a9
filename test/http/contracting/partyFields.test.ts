import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type ResourceKind, resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

const valid: ReadonlyArray<readonly [kind: ResourceKind, fields: object]> = [
  ["addresses", { countryCode: "NO", taxNumber: "27/123/45678" }],
  ["addresses", { electronicAddress: { scheme: "EM", value: "v".repeat(200) } }],
  ["addresses", { electronicAddress: { scheme: "0204", value: "9" } }],
  ["tenants", { billingContact: { name: "Billing", email: "billing@harbour.test", phone: "+49 40 1234567" } }],
  ["tenants", { billingContact: { email: "billing@harbour.test" } }],
  ["clients", { language: "en" }],
  ["clients", { language: "de" }],
  ["clients", { language: "fr" }],
  ["contacts", { receivesInvoices: true }],
  ["contacts", { receivesInvoices: false }]
]

const country = "must be an ISO 3166-1 alpha-2 country code such as DE"
const scheme: ExpectedError = [
  "electronicAddress.scheme",
  "format",
  "must be a code of the EAS list such as EM or 0204"
]
const contact = "must have at least one of name, email and phone"

const invalid: ReadonlyArray<readonly [kind: ResourceKind, fields: object, ...errors: ReadonlyArray<ExpectedError>]> = [
  ["addresses", { countryCode: "de" }, ["countryCode", "format", country]],
  ["addresses", { countryCode: "DEU" }, ["countryCode", "format", country]],
  ["addresses", { countryCode: "XX" }, ["countryCode", "format", country]],
  ["addresses", { countryCode: 49 }, ["countryCode", "type", "must be a string"]],
  ["addresses", { taxNumber: "t".repeat(101) }, ["taxNumber", "maxLength", "must have at most 100 characters"]],
  ["addresses", { electronicAddress: { scheme: "em", value: "v" } }, scheme],
  ["addresses", { electronicAddress: { scheme: "9999", value: "v" } }, scheme],
  [
    "addresses",
    { electronicAddress: { scheme: "EM", value: "" } },
    ["electronicAddress.value", "minLength", "must have at least 1 character"]
  ],
  [
    "addresses",
    { electronicAddress: { scheme: "EM", value: "v".repeat(201) } },
    ["electronicAddress.value", "maxLength", "must have at most 200 characters"]
  ],
  [
    "addresses",
    { electronicAddress: {} },
    ["electronicAddress.scheme", "required", "is required"],
    ["electronicAddress.value", "required", "is required"]
  ],
  ["addresses", { electronicAddress: "EM:v" }, ["electronicAddress", "type", "must be an object"]],
  ["tenants", { billingContact: {} }, ["billingContact", "required", contact]],
  ["tenants", { billingContact: { name: "" } }, ["billingContact.name", "minLength", "must have at least 1 character"]],
  [
    "tenants",
    { billingContact: { email: "billing" } },
    ["billingContact.email", "format", "must be an email address with an @"]
  ],
  [
    "tenants",
    { billingContact: { phone: "1".repeat(51) } },
    ["billingContact.phone", "maxLength", "must have at most 50 characters"]
  ],
  [
    "tenants",
    { billingContact: { name: "n", fax: "1" } },
    ["billingContact.fax", "unknown", "is not a known property"]
  ],
  ["clients", { language: "it" }, ["language", "enum", "must be one of en, de, fr"]],
  ["clients", { language: "DE" }, ["language", "enum", "must be one of en, de, fr"]],
  ["contacts", { receivesInvoices: "yes" }, ["receivesInvoices", "type", "must be true or false"]]
]

describe("The fields for invoices of parties", () => {
  const service = useFixture(() => startService({}))

  const createTenant = async () => {
    const tenant = await service().newTenant()
    const call = (method: string, path: string, body?: object) =>
      service().api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
    return { call, ...resourceMaker(service(), tenant) }
  }

  it.each(valid)("of %s keep %j", async (kind, fields) => {
    const { call, make } = await createTenant()
    const created = await make(kind, fields)
    assert.deepInclude(created, fields)
    const path = `/${kind}/${created.id}`
    assert.deepStrictEqual((await call("GET", path)).body.data, created)
    const other = await make(kind)
    for (const name of Object.keys(fields)) assert.notProperty(other, name)
    const patched = await call("PATCH", `/${kind}/${other.id}`, fields)
    assert.deepInclude(patched.body.data, fields)
    assert.deepStrictEqual((await call("GET", `/${kind}/${other.id}`)).body, patched.body)
    const listed = (await call("GET", `/${kind}?limit=200`)).body.data
    assert.deepInclude(listed, patched.body.data)
  })

  for (const [kind, fields, ...errors] of invalid) {
    it(`of ${kind} reject ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const { bodyOf, call, make } = await createTenant()
      assertValidationError(await call("POST", `/${kind}`, await bodyOf(kind, fields)), ...errors)
      const path = `/${kind}/${(await make(kind)).id}`
      const before = await call("GET", path)
      assertValidationError(await call("PATCH", path, fields), ...errors)
      assert.strictEqual((await call("GET", path)).text, before.text)
    })
  }
})
