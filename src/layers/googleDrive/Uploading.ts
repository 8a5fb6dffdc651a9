import { Effect } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import { type Call, call, type Reply } from "../providerHttp/Calls.ts"
import { multipart } from "./Multipart.ts"
import { plainRefusalOf } from "./Refusal.ts"

/** Google accepts 5 MB in a multipart upload. The metadata needs a part of it. */
export const mostAtOnce = 4_900_000

export interface Upload {
  readonly method: "POST" | "PATCH"
  /** The upload collection for POST, or an existing file for PATCH. */
  readonly url: string
  readonly described: object
  readonly pdf: Uint8Array
}

const buildUrl = (url: string, uploadType: "multipart" | "resumable") =>
  `${url}?uploadType=${uploadType}&supportsAllDrives=true&fields=id,name,md5Checksum,size`

/** Uploads metadata and content in one request. */
const uploadMultipart = (session: AuthorizedSession, { described, method, pdf, url }: Upload) =>
  session.call({ method, url: buildUrl(url, "multipart"), ...multipart(described, pdf) })

const buildSessionRequest = ({ described, method, pdf, url }: Upload): Call => ({
  method,
  url: buildUrl(url, "resumable"),
  headers: {
    "content-type": "application/json; charset=UTF-8",
    "x-upload-content-type": "application/pdf",
    "x-upload-content-length": String(pdf.length)
  },
  body: JSON.stringify(described)
})

/** Opens an upload session, then sends the content to its URL. That URL is itself a credential, so the PUT carries no token. */
const uploadResumable = (session: AuthorizedSession, upload: Upload) =>
  Effect.gen(function* () {
    const sessionReply: Reply = yield* session.call(buildSessionRequest(upload))
    const { location = "" } = sessionReply.headers
    if (sessionReply.status !== 200) return sessionReply
    if (!URL.canParse(location)) return yield* Effect.fail(plainRefusalOf(sessionReply))
    const contentRequest = {
      method: "PUT",
      url: location,
      headers: { "content-type": "application/pdf" },
      body: upload.pdf
    } as const
    const reply = yield* call(contentRequest)
    // The upload session expired: the next attempt opens a new one.
    return reply.status === 404 || reply.status === 410 ? yield* Effect.fail(plainRefusalOf(reply)) : reply
  })

/** Uploads a file and returns the final response. */
export const uploading = (session: AuthorizedSession, upload: Upload) =>
  upload.pdf.length > mostAtOnce ? uploadResumable(session, upload) : uploadMultipart(session, upload)
