import { HttpApi } from "@effect/platform"
import { Context } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { hasRole, type Role, roles } from "../../src/domain/tenancy/Roles.ts"
import { EndpointAccess } from "../../src/http/api/Access.ts"
import { makeApi } from "../../src/http/api/Api.ts"
import { handlerGroups } from "../../src/http/HandlerGroups.ts"
import { type JsonSchema, operationsOf } from "../support/assertions/operations.ts"
import {
  describeScreen,
  hasDialog,
  makeConsoleScreens,
  type Screen,
  visitScreen
} from "../support/fixtures/consoleScreens.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { addMember } from "../support/fixtures/members.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

/** Markup that would be seen if it became elements: by its class, its requests or a dialog. */
const markupOf = (field: string) => `<img class=planted src=x onerror="alert(1)">${field}`
const shortMarkup = "<b class=planted>x"

/** Texts with a form of their own, which take no markup. */
const isFreeText = ({ enum: choices, format, maxLength = 1000, pattern, type }: JsonSchema) =>
  type === "string" && pattern === undefined && format === undefined && choices === undefined && maxLength > 20

/** Fields that name something, so that other text is refused. */
const namesSomething =
  /^(timeZone|countryCode|language|currencyCode|unit|iban|bic|reference(Type|Id)|discountReason|exemption\w+|password)$/

/** The operation that each button outside of dialogs is for. Where a label means something else, its area is before it. */
const operationsOfButtons: Readonly<Record<string, string>> = {
  "New client": "POST /clients",
  "Create client": "POST /clients",
  Statement: "GET /clients/{clientId}/statement/pdf",
  Edit: "PATCH /clients/{clientId}",
  "New contract": "POST /contracts",
  "Create contract": "POST /contracts",
  Add: "POST /contacts",
  "Add e-mail": "POST /emails",
  "Empty invoice": "POST /invoices",
  "Bill issues": "POST /invoices/{invoiceId}/billables/from-issues",
  "Create draft": "POST /invoices/{invoiceId}/billables/from-issues",
  "Choose all 3 unbilled": "POST /invoices/{invoiceId}/billables/from-issues",
  Delete: "DELETE /invoices/{invoiceId}",
  Save: "PATCH /billables/{billableId}",
  "×": "DELETE /billables/{billableId}",
  "+ Add a line": "POST /billables",
  "Finalize…": "POST /invoices/{invoiceId}/finalize",
  Void: "POST /invoices/{invoiceId}/void",
  "Credit note": "POST /credit-notes",
  "Record payment": "POST /payments",
  Send: "POST /invoices/{invoiceId}/send",
  "Show PDF": "GET /invoices/{invoiceId}/pdf",
  "Hide PDF": "GET /invoices/{invoiceId}/pdf",
  "Download PDF": "GET /invoices/{invoiceId}/pdf",
  Explain: "GET /invoices/{invoiceId}/explain",
  Reverse: "POST /payments/{paymentId}/reverse",
  Refund: "POST /payments/{paymentId}/refund",
  Finalize: "POST /credit-notes/{creditNoteId}/finalize",
  "Client’s page": "GET /invoices/{invoiceId}/link",
  "Write off": "POST /invoices/{invoiceId}/write-off",
  "Settle an invoice": "POST /payments/{paymentId}/allocate",
  "credit-notes Delete": "DELETE /credit-notes/{creditNoteId}",
  "New integration": "POST /integrations",
  "integrations Edit": "PATCH /integrations/{integrationId}",
  "integrations Delete": "DELETE /integrations/{integrationId}",
  "New secret": "POST /integrations/{integrationId}/rotate-secret",
  "New address": "POST /integrations/{integrationId}/rotate-secret",
  Authorize: "POST /integrations/{integrationId}/authorize",
  "integrations Pause": "POST /integrations/{integrationId}/pause",
  Ping: "POST /integrations/{integrationId}/ping",
  "Redeliver many…": "POST /integrations/{integrationId}/redeliver",
  Subscribe: "POST /integrations/{integrationId}/subscriptions",
  Unsubscribe: "DELETE /integrations/{integrationId}/subscriptions/{subscriptionId}",
  "events Pause": "GET /events",
  "Edit address": "PATCH /addresses/{addressId}",
  "settings Edit": "PATCH /tenants/{tenantId}",
  "settings Add": "POST /addresses",
  "Add a member": "POST /members",
  Change: "PATCH /members/{memberId}",
  // Everybody may remove a membership: their own.
  Remove: "PATCH /members/{memberId}",
  Leave: "DELETE /members/{memberId}",
  Archive: "POST /tax-rates/{taxRateId}/archive",
  "New tax rate": "POST /tax-rates",
  "Taxes of new lines": "PATCH /tenants/{tenantId}",
  CSV: "GET /invoices",
  ZIP: "GET /tenants/{tenantId}/export"
}

const operationOf = (path: string, label: string) =>
  operationsOfButtons[`${path.split("/")[1]} ${label}`] ?? operationsOfButtons[label]

/** The role that each operation takes, as the API declares it. */
const requiredRoles = () => {
  const found = new Map<string, Role>()
  HttpApi.reflect(makeApi(handlerGroups.map(({ group }) => group)), {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const access = Context.unsafeGet(endpoint.annotations, EndpointAccess)
      const path = endpoint.path.replace("/api/v1", "").replace(/:(\w+)/g, "{$1}")
      if (access.for === "member") found.set(`${endpoint.method} ${path}`, access.role)
    }
  })
  return found
}

describe.skipIf(isSkipped)(titleOf("Every screen of the console"), { timeout: 120_000 }, () => {
  let console: RunningConsole
  let screens: ReadonlyArray<Screen>
  const planted = new Set<string>()
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    const { components } = console.service.document
    const resolve = (schema: JsonSchema): JsonSchema =>
      components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema
    const bodies = new Map(operationsOf(console.service.document).map(({ body, name }) => [name, body]))
    const plant = (operation: string) => {
      const given = resolve(bodies.get(operation.replace(" ", " /api/v1")) ?? {})
      const schema = resolve(given.properties?.["billables"]?.items ?? given)
      const fields = Object.entries(schema.properties ?? {}).filter(
        ([name, property]) => isFreeText(resolve(property)) && !namesSomething.test(name)
      )
      return Object.fromEntries(
        fields.map(([name, property]) => {
          const text = markupOf(`${operation.slice(6)}.${name}`)
          const isLong = (resolve(property).maxLength ?? 1000) >= text.length
          if (isLong) planted.add(text)
          return [name, isLong ? text : shortMarkup]
        })
      )
    }
    screens = await makeConsoleScreens(console, plant)
    await console.service.api("PATCH", `/tenants/${console.tenant}`, {
      as: "owner",
      tenant: console.tenant,
      body: { name: markupOf("tenants.name") }
    })
    planted.add(markupOf("tenants.name"))
    for (const role of roles.slice(0, 3)) await addMember(console.service, console.tenant, role, role)
  })
  afterAll(() => console?.stop())

  it("shows markup as text, stays at its origin, obeys its policy, and leaves the token in no place", async () => {
    const [requests, violations, dialogs]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
    const page = await console.open("/clients")
    await page.waitForSelector(".person")
    page.on("request", (request) => requests.push(request.url()))
    page.on("console", (message) => message.text().includes("Security Policy") && violations.push(message.text()))
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const signingIn = page.waitForResponse(/\/console\/sign-in$/)
    await console.open("")
    const token = await (await signingIn).text()
    await page.waitForSelector(".tiles")
    const seen = new Set<string>()
    for (const screen of screens)
      await visitScreen(page, console.tenant, screen, async () => {
        assert.strictEqual(await page.locator(".planted").count(), 0, describeScreen(screen))
        const text = await page.evaluate<string>("document.body.textContent")
        for (const plantedText of planted) if (text.includes(plantedText)) seen.add(plantedText)
      })
    assert.deepStrictEqual({ violations, dialogs }, { violations: [], dialogs: [] })
    // Chromium loads its PDF viewer from itself, with addresses of its own.
    const isForeign = (url: string) => /^(http|ws)/.test(url) && !url.startsWith(`${console.service.url}/`)
    assert.deepStrictEqual(
      requests.filter((url) => isForeign(url) || url.endsWith("/x")),
      []
    )
    assert.isAbove(requests.length, screens.length)
    // What no screen shows: PDF files and e-invoices have it.
    const notShown =
      /(addresses\.(address2|region|registrationNumber|taxNumber|vatNumber)|payments\.externalId|invoices\.(buyerReference|purchaseOrder|notes))$/
    assert.deepStrictEqual(
      [...planted].filter((text) => !seen.has(text) && !notShown.test(text)),
      []
    )
    assert.isAbove(token.length, 100)
    const stored = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML])"
    )
    for (const text of [stored, ...requests, ...console.service.logs]) assert.notInclude(text, token)
  })

  it("offers each role what the API allows it, and nothing else", async () => {
    const required = requiredRoles()
    const offeredTo = async (as: string) => {
      const page = await console.open("", { as })
      await page.waitForSelector(".person")
      const offered = new Map<string, ReadonlyArray<string>>()
      for (const screen of screens.filter((screen) => !hasDialog(screen)))
        await visitScreen(page, console.tenant, screen, async () => {
          const labels = await page.locator("main button").evaluateAll((buttons) =>
            // Members may edit addresses, also those of the tenant, whose other data takes another role.
            buttons.map((button) =>
              button.ariaLabel?.startsWith("Edit address") ? "Edit address" : button.textContent
            )
          )
          offered.set(screen.path, [...new Set(labels)].sort())
        })
      return offered
    }
    const byOwner = await offeredTo("owner")
    // The only owner cannot leave.
    byOwner.set("/settings/members", [...(byOwner.get("/settings/members") ?? []), "Leave"].sort())
    const roleFor = (path: string, label: string) =>
      required.get(operationOf(path, label) ?? assert.fail(`no operation for ${label}`)) ?? assert.fail(label)
    for (const role of roles.slice(0, 3)) {
      const expected = new Map(
        [...byOwner].map(
          ([path, labels]) => [path, labels.filter((label) => hasRole(role, roleFor(path, label)))] as const
        )
      )
      assert.deepStrictEqual(Object.fromEntries(await offeredTo(role)), Object.fromEntries(expected), role)
    }
  })
})
