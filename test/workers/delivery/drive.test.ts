import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { insertAuthorizedIntegration, insertGrant } from "../../support/fixtures/grantRows.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { openPool } from "../../support/servers/database.ts"
import { type GoogleDriveServer, sendDriveError, startGoogleDrive } from "../../support/servers/googleDrive.ts"
import type { Asked } from "../../support/servers/jsonServer.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

describe("a finalized invoice", () => {
  let service: Service
  let drive: GoogleDriveServer
  let google: OAuthProviderServer
  let sql: ReturnType<typeof openPool>
  let running: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    drive = await startGoogleDrive("folder")
    google = await startOAuthProvider()
    service = await startService({ ...google.environment, GOOGLE_API_URL: drive.url })
    sql = openPool(service.database.url)
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    drive.meet(undefined)
    await Promise.all(running.map(({ stop }) => stop()))
    await sql.end()
    await service.stop()
    await google.stop()
    await drive.stop()
  })

  interface Connection {
    readonly folderId?: string
    readonly token?: string
    readonly refresh?: string | undefined
  }

  /** A tenant whose finalized invoices go into a drive. */
  const connected = async ({ folderId = "folder", token = "valid", refresh }: Connection = {}) => {
    drive.meet(undefined)
    drive.rotate("valid")
    const tenant = await service.newTenant()
    const id = await insertAuthorizedIntegration(sql, tenant, { provider: "GOOGLE_DRIVE", config: { folderId } })
    await insertGrant(service, sql, { tenant, integration: id, token, refresh })
    const call = (method: string, path: string, body?: object) =>
      service.api(method, `/integrations/${id}${path}`, {
        as: "owner",
        tenant,
        ...(body === undefined ? {} : { body })
      })
    const subscribed = await call("POST", "/subscriptions", { eventType: "invoice.finalized" })
    assert.strictEqual(subscribed.status, 201, subscribed.text)
    const invoicing = invoiceClient(service, tenant)
    return {
      tenant,
      id,
      call,
      invoicing,
      integration: async () => (await call("GET", "")).body.data,
      /** The one delivery there is, once it is as it should be. */
      delivery: async (isSo: (delivery: Record<string, unknown>) => boolean, what: string) => {
        let seen: Record<string, unknown> = {}
        await eventually(async () => {
          seen = (await call("GET", "/deliveries")).body.data[0] ?? {}
          return isSo(seen)
        }, what)
        return (await call("GET", `/deliveries/${seen["id"]}`)).body.data
      },
      filesOf: (invoice: string) =>
        [...drive.files.values()].filter(({ appProperties }) => appProperties?.["invoiceId"] === invoice),
      pdf: async (invoice: string) => {
        const response = await fetch(`${service.url}/api/v1/invoices/${invoice}/pdf`, {
          headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
        })
        return Buffer.from(await response.arrayBuffer())
      }
    }
  }

  type Connected = Awaited<ReturnType<typeof connected>>
  const isDelivered = ({ status }: Record<string, unknown>) => status === "DELIVERED"
  const wasTried = ({ attempts }: Record<string, unknown>) => attempts === 1
  const outcomesOf = ({ attemptLog }: { attemptLog: ReadonlyArray<{ outcome: string }> }) =>
    attemptLog.map(({ outcome }) => outcome)

  const arrives = async (world: Connected, invoice: string) => {
    const delivery = await world.delivery(isDelivered, "the delivery is finished")
    const [file, ...more] = world.filesOf(invoice)
    assert.lengthOf(more, 0)
    assert.isTrue(file?.bytes.equals(await world.pdf(invoice)))
    return { delivery, file }
  }

  it("lies in the folder once, with the very bytes the API shows", async () => {
    const world = await connected()
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await arrives(world, id)
    assert.deepStrictEqual(outcomesOf(delivery), ["DELIVERED"])
    const { body } = await world.invoicing.call("GET", `/invoices/${id}`)
    assert.deepInclude(file, {
      name: `${body.data.invoiceNumber}.pdf`,
      mimeType: "application/pdf",
      parents: ["folder"],
      appProperties: { invoiceId: id, tenantId: world.tenant }
    })
    const { rows } = await sql.query("select file_id from delivery_files where delivery_id = $1", [delivery.id])
    assert.deepStrictEqual(rows, [{ file_id: file?.id }])
  })

  it("keeps its identifier before it is sent", async () => {
    const world = await connected()
    let known: ReadonlyArray<unknown> = []
    drive.meet(async ({ url }) => {
      if (url.pathname.startsWith("/upload/"))
        known = (await sql.query("select 1 from delivery_files where tenant_id = $1", [world.tenant])).rows
      return false
    })
    await arrives(world, (await world.invoicing.invoiceIn("FINALIZED")).id)
    assert.lengthOf(known, 1)
  })

  const isUpload = ({ method, url }: Asked) => method === "POST" && url.pathname.startsWith("/upload/")

  it("lies there once when the answer to its upload got lost", async () => {
    const world = await connected()
    drive.meet(async (asked, response) => {
      if (!isUpload(asked)) return false
      drive.meet(undefined)
      await fetch(`${drive.url}${asked.url.pathname}${asked.url.search}`, {
        method: "POST",
        headers: {
          authorization: String(asked.headers.authorization),
          "content-type": String(asked.headers["content-type"])
        },
        body: new Uint8Array(asked.body)
      })
      response.destroy()
      return true
    })
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    const { delivery } = await arrives(world, id)
    assert.deepStrictEqual(outcomesOf(delivery), ["FAILED", "DELIVERED"])
  })

  it("lies there once when its worker did not come back, even if it was voided since", async () => {
    const world = await connected()
    let release = () => {}
    drive.meet(async (asked, response) => {
      if (!isUpload(asked)) return false
      drive.meet(undefined)
      const end = response.end.bind(response)
      response.end = ((body: string) => {
        release = () => void end(body)
        return response
      }) as typeof response.end // only this one form of it is used
      return false
    })
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    const original = await world.pdf(id)
    await eventually(() => world.filesOf(id).length === 1, "the upload is done")
    await world.invoicing.move(id, "void")
    await sql.query(
      "update deliveries set leased_until = now() - interval '1 second', next_attempt_at = now() where tenant_id = $1",
      [world.tenant]
    )
    const delivery = await world.delivery(isDelivered, "the delivery is finished")
    release()
    assert.deepStrictEqual(outcomesOf(delivery), ["LOST", "DELIVERED"])
    const [file, ...more] = world.filesOf(id)
    assert.lengthOf(more, 0)
    assert.isTrue(file?.bytes.equals(original))
  })

  it("is sent with another token when the drive refuses the one there was", async () => {
    const world = await connected({ token: "outdated" })
    drive.meet(async ({ headers }) => {
      if (headers.authorization === "Bearer outdated")
        await insertGrant(service, sql, { tenant: world.tenant, integration: world.id, token: "valid", generation: 2 })
      return false
    })
    const { delivery } = await arrives(world, (await world.invoicing.invoiceIn("FINALIZED")).id)
    assert.deepStrictEqual(outcomesOf(delivery), ["DELIVERED"])
  })

  /** The tokens among these that requests came with, in their order. */
  const cameWith = (...tokens: ReadonlyArray<string>) =>
    drive.asked
      .map(({ headers }) => headers.authorization?.replace("Bearer ", "") ?? "")
      .filter((token) => tokens.includes(token))
  const renewalsWith = (refresh: string) =>
    google.askedFor("/token").filter(({ fields }) => fields["refresh_token"] === refresh)

  it.each<[string, string, string | undefined, number]>([
    ["nothing is there to get another with", "unrenewable", undefined, 0],
    ["there is no other to be had", "withdrawn", "spent", 1]
  ])("waits for a person when its token is refused and %s", async (_, token, refresh, renewals) => {
    const world = await connected({ token, refresh })
    await world.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, status } = await world.delivery(wasTried, "one attempt")
    assert.strictEqual(attemptLog[0].outcome, "FAILED")
    assert.strictEqual(status, "PENDING")
    assert.deepStrictEqual(cameWith(token), [token])
    assert.lengthOf(renewalsWith("spent"), renewals)
    const integration = await world.integration()
    assert.deepInclude(integration, { status: "ERROR", isAuthorized: false })
    assert.match(integration.statusReason, /Authorize again/)
  })

  it("is sent once more with a token that was got for the refused one, and is left for later if that is too", async () => {
    const world = await connected({ token: "stale", refresh: "renewing" })
    google.answer("/token", { status: 200, body: { access_token: "renewed", expires_in: 3600 } })
    await world.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, nextAttemptAt, status } = await world.delivery(wasTried, "one attempt")
    google.answer("/token", undefined)
    assert.deepInclude(attemptLog[0], { outcome: "FAILED", responseStatus: 401 })
    assert.strictEqual(status, "PENDING")
    assert.isDefined(nextAttemptAt)
    assert.deepStrictEqual(cameWith("stale", "renewed"), ["stale", "renewed"])
    assert.lengthOf(renewalsWith("renewing"), 1)
    assert.deepInclude(await world.integration(), { status: "ACTIVE", isAuthorized: true })
  })

  const stops: ReadonlyArray<readonly [number, string, RegExp]> = [
    [403, "storageQuotaExceeded", /full/],
    [403, "teamDriveFileLimitExceeded", /shared drive/],
    [403, "numChildrenInNonRootLimitExceeded", /folder holds/],
    [403, "insufficientFilePermissions", /does not let us write/],
    [403, "appNotAuthorizedToFile", /does not let us write/],
    [403, "domainPolicy", /organisation/]
  ]
  it.each(stops)("waits for a person after %i %s, and goes when that one resumes", async (code, reason, told) => {
    const world = await connected()
    drive.meet((asked, response) => {
      if (!isUpload(asked)) return false
      sendDriveError(response, code, reason)
      return true
    })
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    await eventually(async () => (await world.integration()).status === "ERROR", "the integration is in ERROR")
    assert.match((await world.integration()).statusReason, told)
    const { status } = await world.delivery(wasTried, "one attempt")
    assert.strictEqual(status, "PENDING")
    drive.meet(undefined)
    await world.call("POST", "/resume")
    const { delivery } = await arrives(world, id)
    assert.deepStrictEqual(outcomesOf(delivery), ["FAILED", "DELIVERED"])
  })

  it("waits for a person while its folder is missing", async () => {
    const world = await connected({ folderId: "elsewhere" })
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    await eventually(async () => (await world.integration()).status === "ERROR", "the integration is in ERROR")
    assert.match((await world.integration()).statusReason, /folder/)
    assert.strictEqual((await world.call("PATCH", "", { config: { folderId: "folder" } })).status, 200)
    await world.call("POST", "/resume")
    await arrives(world, id)
  })

  const passing: ReadonlyArray<readonly [number, string]> = [
    [403, "userRateLimitExceeded"],
    [403, "rateLimitExceeded"],
    [429, "rateLimitExceeded"],
    [500, "internalError"],
    [503, "backendError"],
    [400, "badRequest"]
  ]
  it.each(passing)("is to be tried again after %i %s", async (code, reason) => {
    const world = await connected()
    drive.meet((asked, response) => {
      if (!isUpload(asked)) return false
      sendDriveError(response, code, reason)
      return true
    })
    await world.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, nextAttemptAt, status } = await world.delivery(wasTried, "one attempt")
    assert.deepInclude(attemptLog[0], { outcome: "FAILED", responseStatus: code })
    assert.include(attemptLog[0].error, reason)
    assert.strictEqual(status, "PENDING")
    assert.isDefined(nextAttemptAt)
    assert.strictEqual((await world.integration()).status, "ACTIVE")
  })

  const rests: ReadonlyArray<readonly [number, string, Record<string, string>, number]> = [
    [429, "rateLimitExceeded", { "retry-after": "3600" }, 3600],
    [403, "dailyLimitExceeded", {}, 4 * 3600]
  ]
  it.each(rests)("is left alone for as long as %i %s asks", async (code, reason, headers, seconds) => {
    const world = await connected()
    drive.meet((asked, response) => {
      if (!isUpload(asked)) return false
      sendDriveError(response, code, reason, headers)
      return true
    })
    await world.invoicing.invoiceIn("FINALIZED")
    const { attemptLog, nextAttemptAt } = await world.delivery(wasTried, "one attempt")
    assert.isAtLeast(Date.parse(nextAttemptAt) - Date.parse(attemptLog[0].attemptedAt), seconds * 1000)
  })

  it("is made anew when it is wanted again and was thrown away", async () => {
    const world = await connected()
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await arrives(world, id)
    if (file !== undefined) file.trashed = true
    await world.call("POST", `/deliveries/${delivery.id}/redeliver`)
    await world.delivery(({ attempts, status }) => attempts === 2 && status === "DELIVERED", "a second attempt")
    assert.deepStrictEqual(
      world.filesOf(id).map(({ trashed }) => trashed),
      [true, false]
    )
  })

  it("is made the same again when somebody changed it, and stays one file", async () => {
    const world = await connected()
    const { id } = await world.invoicing.invoiceIn("FINALIZED")
    const { delivery, file } = await arrives(world, id)
    if (file !== undefined) drive.files.set(file.id, { ...file, bytes: Buffer.from("scribbled over") })
    await world.call("POST", `/deliveries/${delivery.id}/redeliver`)
    await world.delivery(({ attempts, status }) => attempts === 2 && status === "DELIVERED", "a second attempt")
    await arrives(world, id)
  })

  it("does not take the place of a file that is not ours", async () => {
    const world = await connected()
    drive.meet((asked) => {
      const id = /"id":"(\w+)"/.exec(asked.body.toString("latin1"))?.[1]
      if (!isUpload(asked) || id === undefined) return false
      const theirs = { id, name: "theirs", mimeType: "text/plain", bytes: Buffer.from("theirs"), trashed: false }
      drive.files.set(id, theirs)
      return false
    })
    await world.invoicing.invoiceIn("FINALIZED")
    const { attemptLog } = await world.delivery(wasTried, "one attempt")
    assert.include(attemptLog[0].error, "Another file")
    assert.isAtLeast([...drive.files.values()].filter(({ name }) => name === "theirs").length, 1)
  })

  it("is all that can be subscribed to, and whatever else comes is done without a request", async () => {
    const world = await connected({ token: "unasked" })
    for (const eventType of ["invoice.*", "client.created"]) {
      const { body, status } = await world.call("POST", "/subscriptions", { eventType })
      assert.strictEqual(status, 400)
      assert.deepInclude(body.details[0], { field: "eventType", constraint: "enum" })
    }
    await sql.query("update subscriptions set event_type = 'client.created' where integration_id = $1", [world.id])
    drive.rotate("unasked")
    await service.api("POST", "/clients", { as: "owner", tenant: world.tenant, body: { name: "C" } })
    await world.delivery(isDelivered, "the delivery is finished")
    assert.deepStrictEqual(cameWith("unasked"), [])
    assert.deepStrictEqual(
      [...drive.files.values()].filter(({ appProperties }) => appProperties?.["tenantId"] === world.tenant),
      []
    )
  })
})
