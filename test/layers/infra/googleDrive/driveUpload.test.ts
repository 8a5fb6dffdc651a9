import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { maxMultipartBytes } from "../../../../src/layers/infra/googleDrive/DriveUpload.ts"
import { makeGoogleDriveClient } from "../../../../src/layers/infra/googleDrive/GoogleDriveClient.ts"
import { sendProviderRequest } from "../../../../src/layers/infra/providerHttp/ProviderRequest.ts"
import { type GoogleDriveServer, sendDriveError, startGoogleDrive } from "../../../support/servers/googleDrive.ts"

describe("An upload to Google Drive", () => {
  let server: GoogleDriveServer
  beforeAll(async () => {
    server = await startGoogleDrive("folder")
  })
  afterAll(() => server.stop())

  const session = {
    siteId: undefined,
    send: (one: Parameters<typeof sendProviderRequest>[0]) =>
      sendProviderRequest({ ...one, headers: { ...one.headers, authorization: "Bearer valid" } })
  }
  const fileOf = (bytes: number) => ({
    name: "large.pdf",
    pdf: new Uint8Array(randomBytes(bytes)),
    folder: "folder",
    appProperties: { invoiceId: "inv" }
  })
  const create = (id: string, file: ReturnType<typeof fileOf>) =>
    Effect.runPromise(Effect.either(makeGoogleDriveClient(session, server.url).create(id, file)))

  it.each([1, maxMultipartBytes, maxMultipartBytes + 1, 12_000_000])(
    "stores a file of %i bytes completely",
    async (bytes) => {
      const file = fileOf(bytes)
      await create(`file-of-${bytes}`, file)
      const stored = server.files.get(`file-of-${bytes}`)
      assert.isTrue(stored?.bytes.equals(file.pdf))
      assert.deepInclude(stored, { name: "large.pdf", parents: ["folder"], appProperties: { invoiceId: "inv" } })
    }
  )

  it("sends no token to the session URL of a resumable upload", async () => {
    await create("resumable", fileOf(maxMultipartBytes + 1))
    const put = server.requests.findLast(({ method }) => method === "PUT")
    assert.isDefined(put)
    assert.isUndefined(put?.headers.authorization)
  })

  it.each([404, 410])(
    "does not stop the integration if the session URL of a resumable upload answers %i",
    async (status) => {
      server.intercept(({ method }, response) => {
        if (method !== "PUT") return false
        sendDriveError(response, status, "notFound")
        return true
      })
      const result = await create(`lost-${status}`, fileOf(maxMultipartBytes + 1))
      server.intercept(undefined)
      assert.strictEqual(result._tag, "Left")
      if (result._tag === "Left") assert.deepInclude({ stop: undefined, ...result.left }, { stop: undefined })
      assert.isFalse(server.files.has(`lost-${status}`))
    }
  )
})
