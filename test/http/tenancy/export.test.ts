import { assert, describe, it } from "vitest"
import { exportedTables } from "../../../src/layers/export/ExportedTables.ts"
import { checksumOf, rowsOf, unpack } from "../../support/assertions/archive.ts"
import { findLeaks } from "../../support/assertions/leaks.ts"
import { assetClient } from "../../support/fixtures/assets.ts"
import { png } from "../../support/fixtures/images.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const planted = "planted-credential-4f1d"

/** The columns with credentials, each of which gets a known text. */
const secretColumns = {
  grants: "access",
  pending_grants: "sealed",
  oauth_states: "verifier",
  integration_secrets: "sealed",
  webhook_endpoints: "sealed",
  idempotency_keys: "answer"
}

/** A service with two tenants that have one of everything, and the archive of the first. */
const start = async () => {
  const started = await startServiceWithPool({})
  const { pool, service } = started
  const { ids, marker, tenant } = await makeTenantFixture(service, "owner")
  const other = await makeTenantFixture(service, "stranger")
  const invoices = invoiceClient(service, tenant)
  const voided = await invoices.invoiceIn("VOID", { contractId: ids.get("ctr") })
  const assets = assetClient(service, tenant)
  await assets.createReady()
  const image = png()
  const signed = await assets.createReady({ access: "SIGNED" }, image)
  await service.api("POST", "/clients", {
    as: "owner",
    tenant,
    headers: { "idempotency-key": "export" },
    body: { name: "<b>Quay & Sons</b>" }
  })
  const integration = await service.api("POST", "/integrations", {
    as: "owner",
    tenant,
    body: { provider: "WEBHOOK", name: "Books", config: { url: "http://127.0.0.1:9/hook" } }
  })
  for (const [table, column] of Object.entries(secretColumns))
    await pool.query(`update ${table} set ${column} = $1 where tenant_id = $2`, [planted, tenant])
  const token = await service.token("owner")
  const fetchBytes = async (path: string) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, "tenant-id": tenant }
    })
    assert.strictEqual(response.status, 200, path)
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const { bytes, headers } = await fetchBytes(`/tenants/${tenant}/export`)
  const secrets = [
    planted,
    String(integration.body.data.secret),
    new URLSearchParams(signed.url).get("signature") ?? ""
  ]
  return {
    ...started,
    ...{ fetchBytes, headers, image, marker, other, secrets, signed, tenant, voided },
    files: await unpack(bytes)
  }
}

describe("The archive of GET /tenants/{tenantId}/export", () => {
  const at = useFixture(start)

  const list = async (path: string) => {
    const { service, tenant } = at()
    const { body, status, text } = await service.api("GET", path, { as: "owner", tenant })
    assert.strictEqual(status, 200, text)
    return [body.data].flat()
  }
  const listOfEach = async (ids: ReadonlyArray<unknown>, pathOf: (id: unknown) => string) =>
    (await Promise.all(ids.map((id) => list(pathOf(id))))).flat()
  const idsIn = (kind: string) => rowsOf(at().files, kind).map(({ id }) => id)
  const text = (name: string) => at().files.get(name)?.toString() ?? assert.fail(name)

  it("is a ZIP file that is named after the tenant", () => {
    const { headers, tenant } = at()
    assert.strictEqual(headers.get("content-type"), "application/zip")
    assert.strictEqual(headers.get("content-disposition"), `attachment; filename="${tenant}.zip"`)
  })

  it("has the rows of every kind first, then pages, PDFs and images, and the checksums last", () => {
    const names = [...at().files.keys()]
    const kinds = Object.keys(exportedTables)
    assert.deepStrictEqual(
      names.slice(0, kinds.length),
      kinds.map((kind) => `data/${kind}.jsonl`)
    )
    assert.deepStrictEqual(names.slice(-2), ["index.html", "SHA256SUMS"])
    for (const kind of kinds) assert.isNotEmpty(rowsOf(at().files, kind), kind)
  })

  it("has the SHA-256 of every other file in SHA256SUMS, as sha256sum writes it", () => {
    const lines = [...at().files].slice(0, -1).map(([name, content]) => `${checksumOf(content)}  ${name}\n`)
    assert.strictEqual(text("SHA256SUMS"), lines.join(""))
  })

  it("has the rows that the API returns", async () => {
    const { files, signed, tenant } = at()
    const ofIntegrations = (path: string) => listOfEach(idsIn("integrations"), (id) => `/integrations/${id}/${path}`)
    const ofIntegration = (
      path: string,
      listed: ReadonlyArray<{ readonly id: string; readonly integration: string }>
    ) =>
      Promise.all(
        listed.map(async ({ id, integration }) => (await list(`/integrations/${integration}/${path}/${id}`))[0])
      )
    const expected: Record<string, ReadonlyArray<object>> = {
      tenant: await list(`/tenants/${tenant}`),
      "invoice-series": await list("/invoice-series"),
      "credit-note-series": await list("/credit-note-series"),
      billables: await listOfEach(idsIn("invoices"), (id) => `/billables?invoiceId=${id}&limit=200`),
      events: await listOfEach(idsIn("events"), (id) => `/events/${id}`),
      issues: (
        await Promise.all(["WORLD", "A"].map((project) => ofIntegrations(`issues?projectKey=${project}&limit=200`)))
      ).flat(),
      "inbound-webhooks": await ofIntegration("inbound", await ofIntegrations("inbound")),
      deliveries: await ofIntegration("deliveries", await ofIntegrations("deliveries")),
      assets: (await list("/assets?limit=200")).map(({ url, ...asset }) =>
        asset.assetId === signed.assetId || url === undefined ? asset : { ...asset, url }
      )
    }
    for (const kind of [
      ...["members", "clients", "addresses", "contacts", "emails", "contracts", "projects", "invoices"],
      ...["credit-notes", "payments", "tax-rates", "integrations"]
    ])
      expected[kind] = await list(`/${kind}?limit=200`)
    for (const [kind, rows] of Object.entries(expected))
      assert.sameDeepMembers([...rowsOf(files, kind)], [...rows], kind)
    assert.sameMembers(
      [
        ...Object.keys(expected),
        ...["credit-note-lines", "invoice-links", "invoice-mails", "invoice-uploads", "journal-entries"]
      ],
      Object.keys(exportedTables)
    )
  })

  it("has journal entries that add up to the balances of invoices", () => {
    const { files } = at()
    const open = new Map<unknown, number>()
    for (const { invoice, invoiceMinor } of rowsOf(files, "journal-entries"))
      open.set(invoice, (open.get(invoice) ?? 0) + Number(invoiceMinor))
    for (const { balanceMinor, id, status } of rowsOf(files, "invoices"))
      assert.strictEqual(open.get(id) ?? 0, status === "DRAFT" ? 0 : balanceMinor)
  })

  it("has the lines of credit notes that add up to their subtotals", () => {
    const { files } = at()
    for (const { id, subtotalMinor } of rowsOf(files, "credit-notes")) {
      const lines = rowsOf(files, "credit-note-lines").filter(({ creditNote }) => creditNote === id)
      assert.strictEqual(
        lines.reduce((sum, { amountMinor }) => sum + Number(amountMinor), 0),
        subtotalMinor
      )
    }
  })

  it("has the PDF of every issued invoice and credit note, the same as GET …/pdf returns", async () => {
    const { fetchBytes, files, voided } = at()
    const issued = [
      ...rowsOf(files, "invoices").map((row) => ({ ...row, kind: "invoices", number: row["invoiceNumber"] })),
      ...rowsOf(files, "credit-notes").map((row) => ({ ...row, kind: "credit-notes", number: row["creditNoteNumber"] }))
    ].filter(({ number }) => number !== undefined)
    const names = issued.map((row) => `${row.kind}/${row.number}_${Reflect.get(row, "id")}.pdf`)
    assert.sameMembers(
      [...files.keys()].filter((name) => name.endsWith(".pdf")),
      names
    )
    assert.isTrue(names.some((name) => name.includes(voided.id)))
    for (const [n, row] of issued.entries()) {
      const { bytes } = await fetchBytes(`/${row.kind}/${Reflect.get(row, "id")}/pdf`)
      assert.isTrue(files.get(names[n] ?? "")?.equals(bytes), names[n])
    }
  })

  it("has every verified image, also one that needs a signature", () => {
    const { files, image, signed } = at()
    const ready = rowsOf(files, "assets").filter(({ status }) => status === "READY")
    assert.strictEqual(ready.length, 2)
    for (const { assetId } of ready) assert.isTrue(files.has(`images/${assetId}.png`))
    assert.isTrue(files.get(`images/${signed.assetId}.png`)?.equals(image))
  })

  it("has pages whose links lead to files of the archive, and that load nothing", () => {
    const { files, tenant } = at()
    const pages = [...files.keys()].filter((name) => name.endsWith(".html"))
    assert.sameMembers(pages, [
      ...["clients", "invoices", "credit-notes", "payments"].map((table) => `pages/${table}-1.html`),
      "index.html"
    ])
    for (const page of pages) {
      assert.notMatch(text(page), /<script|<img|<link|src=|https?:/)
      for (const [, link = ""] of text(page).matchAll(/href="([^"]+)"/g)) {
        const { pathname } = new URL(link, `file:///${page}`)
        assert.isTrue(files.has(pathname.slice(1)), `${page} links to ${link}`)
      }
    }
    assert.include(text("index.html"), tenant)
    assert.include(text("pages/clients-1.html"), "&#60;b&#62;Quay &#38; Sons&#60;/b&#62;")
  })

  it("has no secret, and nothing of another tenant", () => {
    const { files, marker, other, secrets } = at()
    for (const secret of secrets) assert.isAbove(secret.length, 20)
    const leaks = [...secrets, other.marker, other.tenant, ...other.ids.values()]
    for (const [name, content] of files) {
      assert.deepStrictEqual(findLeaks(content.toString("latin1"), leaks), [], name)
    }
    assert.include(text("data/clients.jsonl"), marker)
  })
})
