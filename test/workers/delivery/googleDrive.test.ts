import { assert, describe, it } from "vitest"
import { type DriveFixture, useGoogleDrive } from "../../support/fixtures/googleDrives.ts"
import { insertGrant } from "../../support/fixtures/grantRows.ts"
import { type GoogleDriveServer, sendDriveError } from "../../support/servers/googleDrive.ts"
import type { ApiRequest } from "../../support/servers/jsonServer.ts"
import { eventually } from "../../support/servers/worker.ts"

describe("A Google Drive integration", () => {
  const { at, createDriveFixture } = useGoogleDrive()

  const isDelivered = ({ status }: Record<string, unknown>) => status === "DELIVERED"
  const wasAttempted = ({ attempts }: Record<string, unknown>) => attempts === 1
  const outcomesOf = ({ attemptLog }: { attemptLog: ReadonlyArray<{ outcome: string }> }) =>
    attemptLog.map(({ outcome }) => outcome)

  const isUpload = ({ method, url }: ApiRequest) => method === "POST" && url.pathname.startsWith("/upload/")

  /** Why the invoice cannot be voided, or nothing. */
  const voidRefusalOf = async ({ invoicing }: DriveFixture, invoice: string): Promise<string> => {
    const { body, status } = await invoicing.tryTransition(invoice, "void?dryRun=true")
    return status === 200 ? "" : body.details[0].message
  }

  const assertUploadedOnce = async (fixture: DriveFixture, invoice: string) => {
    const delivery = await fixture.delivery(isDelivered, "the delivery is DELIVERED")
    const [file, ...more] = fixture.filesOf(invoice)
    assert.lengthOf(more, 0)
    assert.isTrue(file?.bytes.equals(await fixture.pdf(invoice)))
    return { delivery, file }
  }

  it("uploads the PDF of a finalized invoice once, with the bytes of GET /invoices/{invoiceId}/pdf", async () => {
    const fixture = await createDriveFixture()
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await assertUploadedOnce(fixture, id)
    assert.deepStrictEqual(outcomesOf(delivery), ["DELIVERED"])
    const { body } = await fixture.invoicing.call("GET", `/invoices/${id}`)
    assert.deepInclude(file, {
      name: `${body.data.invoiceNumber}.pdf`,
      mimeType: "application/pdf",
      parents: ["folder"],
      appProperties: { invoiceId: id, tenantId: fixture.tenant }
    })
    const { rows } = await at().sql.query("select file_id from delivery_files where delivery_id = $1", [delivery.id])
    assert.deepStrictEqual(rows, [{ file_id: file?.id }])
    await at().sql.query("delete from deliveries where id = $1", [delivery.id])
    assert.match(await voidRefusalOf(fixture, id), /^is FINALIZED .* its PDF was stored in Google Drive at .*Z; /)
  })

  it("keeps the invoice from being voided from the start of the upload, until Google refuses it", async () => {
    const fixture = await createDriveFixture()
    let answer = () => {}
    const refusing = new Promise<void>((resolve) => {
      answer = resolve
    })
    at().drive.intercept(async (request, response) => {
      if (!isUpload(request)) return false
      await refusing
      sendDriveError(response, 403, "storageQuotaExceeded")
      return true
    })
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    await eventually(() => voidRefusalOf(fixture, id).then((text) => text !== ""), "the upload has begun")
    assert.include(await voidRefusalOf(fixture, id), "its PDF may have been stored in Google Drive at ")
    answer()
    await eventually(async () => (await voidRefusalOf(fixture, id)) === "", "the invoice can be voided")
  })

  it("uploads nothing of an invoice that is void", async () => {
    const fixture = await createDriveFixture()
    at().drive.intercept((request, response) => {
      if (request.url.pathname.startsWith("/upload/")) return false
      sendDriveError(response, 503, "backendError")
      return true
    })
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    await fixture.delivery(wasAttempted, "one attempt is recorded")
    await fixture.invoicing.transition(id, "void")
    at().drive.intercept(undefined)
    await at().sql.query("update deliveries set next_attempt_at = now() where tenant_id = $1", [fixture.tenant])
    const { error } = await fixture.delivery(({ status }) => status === "EXHAUSTED", "the delivery is EXHAUSTED")
    assert.strictEqual(error, "The invoice is VOID and is not uploaded any more")
    assert.isEmpty(fixture.filesOf(id))
  })

  it("saves the file id before it uploads the file", async () => {
    const fixture = await createDriveFixture()
    let saved: ReadonlyArray<unknown> = []
    at().drive.intercept(async ({ url }) => {
      if (url.pathname.startsWith("/upload/"))
        saved = (await at().sql.query("select 1 from delivery_files where tenant_id = $1", [fixture.tenant])).rows
      return false
    })
    await assertUploadedOnce(fixture, (await fixture.invoicing.invoiceIn("FINALIZED")).id)
    assert.lengthOf(saved, 1)
  })

  it("stores one file when the response to the upload is lost", async () => {
    const fixture = await createDriveFixture()
    at().drive.intercept(async (request, response) => {
      if (!isUpload(request)) return false
      at().drive.intercept(undefined)
      await fetch(`${at().drive.url}${request.url.pathname}${request.url.search}`, {
        method: "POST",
        headers: {
          authorization: String(request.headers.authorization),
          "content-type": String(request.headers["content-type"])
        },
        body: new Uint8Array(request.body)
      })
      response.destroy()
      return true
    })
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    await fixture.delivery(wasAttempted, "one attempt is recorded")
    await at().sql.query("update deliveries set next_attempt_at = now() where tenant_id = $1", [fixture.tenant])
    const { delivery } = await assertUploadedOnce(fixture, id)
    assert.deepStrictEqual(outcomesOf(delivery), ["FAILED", "DELIVERED"])
  })

  it("stores one file when the worker crashes after the upload, and keeps the invoice from being voided", async () => {
    const fixture = await createDriveFixture()
    let release = () => {}
    at().drive.intercept(async (request, response) => {
      if (!isUpload(request)) return false
      at().drive.intercept(undefined)
      const end = response.end.bind(response)
      response.end = ((body: string) => {
        release = () => void end(body)
        return response
      }) as typeof response.end // the server calls only this overload
      return false
    })
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    const original = await fixture.pdf(id)
    await eventually(() => fixture.filesOf(id).length === 1, "the file is uploaded")
    assert.include(await voidRefusalOf(fixture, id), "may have been stored in Google Drive")
    await at().sql.query(
      "update deliveries set leased_until = now() - interval '1 second', next_attempt_at = now() where tenant_id = $1",
      [fixture.tenant]
    )
    const delivery = await fixture.delivery(isDelivered, "the delivery is DELIVERED")
    release()
    assert.deepStrictEqual(outcomesOf(delivery), ["LOST", "DELIVERED"])
    const [file, ...more] = fixture.filesOf(id)
    assert.lengthOf(more, 0)
    assert.isTrue(file?.bytes.equals(original))
  })

  it("uses a token that was renewed meanwhile when Google rejects the old one", async () => {
    const fixture = await createDriveFixture({ token: "outdated" })
    at().drive.intercept(async ({ headers }) => {
      if (headers.authorization === "Bearer outdated")
        await insertGrant(at().service, at().sql, {
          tenant: fixture.tenant,
          integration: fixture.id,
          token: "valid",
          generation: 2
        })
      return false
    })
    const { delivery } = await assertUploadedOnce(fixture, (await fixture.invoicing.invoiceIn("FINALIZED")).id)
    assert.deepStrictEqual(outcomesOf(delivery), ["DELIVERED"])
  })

  /** The bearer tokens of the requests, in order, as far as they are among these. */
  const usedTokens = (...tokens: ReadonlyArray<string>) =>
    at()
      .drive.requests.map(({ headers }) => headers.authorization?.replace("Bearer ", "") ?? "")
      .filter((token) => tokens.includes(token))
  const renewalsWith = (refresh: string) =>
    at()
      .google.requestsTo("/token")
      .filter(({ fields }) => fields["refresh_token"] === refresh)

  it.each<[string, string, string | undefined, number]>([
    ["there is no refresh token", "unrenewable", undefined, 0],
    ["Google rejects the refresh token", "withdrawn", "spent", 1]
  ])("requires a new authorization when Google rejects the token and %s", async (_, token, refresh, renewals) => {
    const fixture = await createDriveFixture({ token, refresh })
    await fixture.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, status } = await fixture.delivery(wasAttempted, "one attempt is recorded")
    assert.strictEqual(attemptLog[0].outcome, "FAILED")
    assert.strictEqual(status, "PENDING")
    assert.deepStrictEqual(usedTokens(token), [token])
    assert.lengthOf(renewalsWith("spent"), renewals)
    const integration = await fixture.integration()
    assert.deepInclude(integration, { status: "ERROR", isAuthorized: false })
    assert.match(integration.statusReason, /Authorize again/)
  })

  it("renews a rejected token once, and retries later if Google rejects the new token too", async () => {
    const fixture = await createDriveFixture({ token: "stale", refresh: "renewing" })
    at().google.overrideResponse("/token", { status: 200, body: { access_token: "renewed", expires_in: 3600 } })
    await fixture.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, nextAttemptAt, status } = await fixture.delivery(wasAttempted, "one attempt is recorded")
    at().google.overrideResponse("/token", undefined)
    assert.deepInclude(attemptLog[0], { outcome: "FAILED", responseStatus: 401 })
    assert.strictEqual(status, "PENDING")
    assert.isDefined(nextAttemptAt)
    assert.deepStrictEqual(usedTokens("stale", "renewed"), ["stale", "renewed"])
    assert.lengthOf(renewalsWith("renewing"), 1)
    assert.deepInclude(await fixture.integration(), { status: "ACTIVE", isAuthorized: true })
  })

  const permanentErrors: ReadonlyArray<readonly [number, string, RegExp]> = [
    [403, "storageQuotaExceeded", /full/],
    [403, "teamDriveFileLimitExceeded", /shared drive/],
    [403, "numChildrenInNonRootLimitExceeded", /folder has reached/],
    [403, "insufficientFilePermissions", /does not allow writing/],
    [403, "appNotAuthorizedToFile", /does not allow writing/],
    [403, "domainPolicy", /organisation/]
  ]
  it.each(permanentErrors)(
    "goes into ERROR after %i %s, and sends the invoice after a resume",
    async (code, reason, statusReason) => {
      const fixture = await createDriveFixture()
      at().drive.intercept((request, response) => {
        if (!isUpload(request)) return false
        sendDriveError(response, code, reason)
        return true
      })
      const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
      await eventually(async () => (await fixture.integration()).status === "ERROR", "the integration is in ERROR")
      assert.match((await fixture.integration()).statusReason, statusReason)
      const { status } = await fixture.delivery(wasAttempted, "one attempt is recorded")
      assert.strictEqual(status, "PENDING")
      at().drive.intercept(undefined)
      await fixture.call("POST", "/resume")
      const { delivery } = await assertUploadedOnce(fixture, id)
      assert.deepStrictEqual(outcomesOf(delivery), ["FAILED", "DELIVERED"])
    }
  )

  it("goes into ERROR while its folder is missing, and sends the invoice after a resume", async () => {
    const fixture = await createDriveFixture({ folderId: "elsewhere" })
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    await eventually(async () => (await fixture.integration()).status === "ERROR", "the integration is in ERROR")
    assert.match((await fixture.integration()).statusReason, /folder/)
    assert.strictEqual((await fixture.call("PATCH", "", { config: { folderId: "folder" } })).status, 200)
    await fixture.call("POST", "/resume")
    await assertUploadedOnce(fixture, id)
  })

  const transientErrors: ReadonlyArray<readonly [number, string]> = [
    [403, "userRateLimitExceeded"],
    [403, "rateLimitExceeded"],
    [429, "rateLimitExceeded"],
    [500, "internalError"],
    [503, "backendError"],
    [400, "badRequest"]
  ]
  /** One delivery for all transient errors: each error fails the next attempt, and rendering is expensive. */
  let retried: DriveFixture | undefined
  const startNextAttempt = async (meet: Parameters<GoogleDriveServer["intercept"]>[0]) => {
    const fixture = retried ?? (await createDriveFixture())
    at().drive.intercept(meet)
    if (retried === undefined) await fixture.invoicing.invoiceIn("FINALIZED")
    else await at().sql.query("update deliveries set next_attempt_at = now() where tenant_id = $1", [fixture.tenant])
    retried = fixture
    return fixture
  }

  it.each(transientErrors)("retries the upload after %i %s", async (code, reason) => {
    const attemptsBefore = retried === undefined ? 0 : (await retried.delivery(() => true, "a delivery")).attempts
    const fixture = await startNextAttempt((request, response) => {
      if (!isUpload(request)) return false
      sendDriveError(response, code, reason)
      return true
    })
    const isRecorded = ({ attempts }: Record<string, unknown>) => attempts === attemptsBefore + 1
    const { attemptLog, nextAttemptAt, status } = await fixture.delivery(isRecorded, "one more attempt is recorded")
    assert.deepInclude(attemptLog.at(-1), { outcome: "FAILED", responseStatus: code })
    assert.include(attemptLog.at(-1).error, reason)
    assert.strictEqual(status, "PENDING")
    assert.isDefined(nextAttemptAt)
    assert.strictEqual((await fixture.integration()).status, "ACTIVE")
  })

  const rateLimits: ReadonlyArray<readonly [number, string, Record<string, string>, number]> = [
    [429, "rateLimitExceeded", { "retry-after": "3600" }, 3600],
    [403, "dailyLimitExceeded", {}, 4 * 3600]
  ]
  it.each(rateLimits)(
    "retries the upload no sooner than required after %i %s",
    async (code, reason, headers, seconds) => {
      const fixture = await createDriveFixture()
      at().drive.intercept((request, response) => {
        if (!isUpload(request)) return false
        sendDriveError(response, code, reason, headers)
        return true
      })
      await fixture.invoicing.invoiceIn("FINALIZED")
      const { attemptLog, nextAttemptAt } = await fixture.delivery(wasAttempted, "one attempt is recorded")
      assert.isAtLeast(Date.parse(nextAttemptAt) - Date.parse(attemptLog[0].attemptedAt), seconds * 1000)
    }
  )

  it("uploads a new file on redelivery when the old file is in the trash", async () => {
    const fixture = await createDriveFixture()
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await assertUploadedOnce(fixture, id)
    if (file !== undefined) file.trashed = true
    await fixture.call("POST", `/deliveries/${delivery.id}/redeliver`)
    await fixture.delivery(
      ({ attempts, status }) => attempts === 2 && status === "DELIVERED",
      "the second attempt is DELIVERED"
    )
    assert.deepStrictEqual(
      fixture.filesOf(id).map(({ trashed }) => trashed),
      [true, false]
    )
  })

  it("restores a changed file on redelivery without a second file", async () => {
    const fixture = await createDriveFixture()
    const { id } = await fixture.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await assertUploadedOnce(fixture, id)
    if (file !== undefined) at().drive.files.set(file.id, { ...file, bytes: Buffer.from("changed") })
    await fixture.call("POST", `/deliveries/${delivery.id}/redeliver`)
    await fixture.delivery(
      ({ attempts, status }) => attempts === 2 && status === "DELIVERED",
      "the second attempt is DELIVERED"
    )
    await assertUploadedOnce(fixture, id)
  })

  it("does not overwrite another app's file with the same id", async () => {
    const fixture = await createDriveFixture()
    at().drive.intercept((request) => {
      const id = /"id":"(\w+)"/.exec(request.body.toString("latin1"))?.[1]
      if (!isUpload(request) || id === undefined) return false
      const foreign = { id, name: "foreign", mimeType: "text/plain", bytes: Buffer.from("foreign"), trashed: false }
      at().drive.files.set(id, foreign)
      return false
    })
    await fixture.invoicing.invoiceIn("FINALIZED")
    const { attemptLog } = await fixture.delivery(wasAttempted, "one attempt is recorded")
    assert.include(attemptLog[0].error, "Another file")
    assert.isAtLeast([...at().drive.files.values()].filter(({ name }) => name === "foreign").length, 1)
  })

  it("accepts only subscriptions to invoice.finalized, and completes other deliveries without a request", async () => {
    const fixture = await createDriveFixture({ token: "unused" })
    for (const eventType of ["invoice.*", "client.created"]) {
      const { body, status } = await fixture.call("POST", "/subscriptions", { eventType })
      assert.strictEqual(status, 400)
      assert.deepInclude(body.details[0], { field: "eventType", constraint: "enum" })
    }
    await at().sql.query("update subscriptions set event_type = 'client.created' where integration_id = $1", [
      fixture.id
    ])
    at().drive.rotate("unused")
    await at().service.api("POST", "/clients", { as: "owner", tenant: fixture.tenant, body: { name: "C" } })
    await fixture.delivery(isDelivered, "the delivery is DELIVERED")
    assert.deepStrictEqual(usedTokens("unused"), [])
    assert.deepStrictEqual(
      [...at().drive.files.values()].filter(({ appProperties }) => appProperties?.["tenantId"] === fixture.tenant),
      []
    )
  })
})
