import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import { type ProviderRequest, type ProviderResponse, sendProviderRequest } from "../providerHttp/ProviderRequest.ts"
import { toTransientDriveError } from "./DriveError.ts"

/** Encodes a `multipart/related` body: the metadata as JSON, then the PDF. */
export const encodeMultipart = (metadata: object, pdf: Uint8Array) => {
  const boundary = randomUUID()
  const head = `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n--${boundary}\r\ncontent-type: application/pdf\r\n\r\n`
  return {
    headers: { "content-type": `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), pdf, Buffer.from(`\r\n--${boundary}--\r\n`)])
  }
}

/** Google accepts 5 MB in a multipart upload. The metadata needs a part of it. */
export const maxMultipartBytes = 4_900_000

export interface DriveUpload {
  readonly method: "POST" | "PATCH"
  /** The upload collection for POST, or an existing file for PATCH. */
  readonly url: string
  readonly metadata: object
  readonly pdf: Uint8Array
}

const buildUrl = (url: string, uploadType: "multipart" | "resumable") =>
  `${url}?uploadType=${uploadType}&supportsAllDrives=true&fields=id,name,md5Checksum,size`

/** Uploads metadata and content in one request. */
const uploadMultipart = (session: AuthorizedSession, { metadata, method, pdf, url }: DriveUpload) =>
  session.send({ method, url: buildUrl(url, "multipart"), ...encodeMultipart(metadata, pdf) })

const buildSessionRequest = ({ metadata, method, pdf, url }: DriveUpload): ProviderRequest => ({
  method,
  url: buildUrl(url, "resumable"),
  headers: {
    "content-type": "application/json; charset=UTF-8",
    "x-upload-content-type": "application/pdf",
    "x-upload-content-length": String(pdf.length)
  },
  body: JSON.stringify(metadata)
})

/** Opens an upload session, then sends the content to its URL. That URL is itself a credential, so the PUT carries no token. */
const uploadResumable = (session: AuthorizedSession, upload: DriveUpload) =>
  Effect.gen(function* () {
    const sessionReply: ProviderResponse = yield* session.send(buildSessionRequest(upload))
    const { location = "" } = sessionReply.headers
    if (sessionReply.status !== 200) return sessionReply
    if (!URL.canParse(location)) return yield* Effect.fail(toTransientDriveError(sessionReply))
    const contentRequest = {
      method: "PUT",
      url: location,
      headers: { "content-type": "application/pdf" },
      body: upload.pdf
    } as const
    const reply = yield* sendProviderRequest(contentRequest)
    // The upload session expired: the next attempt opens a new one.
    return reply.status === 404 || reply.status === 410 ? yield* Effect.fail(toTransientDriveError(reply)) : reply
  })

/** Uploads a file and returns the final response. */
export const uploadFile = (session: AuthorizedSession, upload: DriveUpload) =>
  upload.pdf.length > maxMultipartBytes ? uploadResumable(session, upload) : uploadMultipart(session, upload)
