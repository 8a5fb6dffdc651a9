import { Effect } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import { type Call, call, type Reply } from "../providerHttp/Calls.ts"
import { multipart } from "./Multipart.ts"
import { plainRefusalOf } from "./Refusal.ts"

/** The drive takes five million bytes at once; the description needs some of them. */
export const mostAtOnce = 4_900_000

export interface Upload {
  readonly method: "POST" | "PATCH"
  /** Where files are uploaded to, or the one whose content is replaced. */
  readonly url: string
  readonly described: object
  readonly pdf: Uint8Array
}

const addressOf = (url: string, uploadType: "multipart" | "resumable") =>
  `${url}?uploadType=${uploadType}&supportsAllDrives=true&fields=id,name,md5Checksum,size`

/** All in one request. */
const atOnce = (session: AuthorizedSession, { described, method, pdf, url }: Upload) =>
  session.call({ method, url: addressOf(url, "multipart"), ...multipart(described, pdf) })

const opening = ({ described, method, pdf, url }: Upload): Call => ({
  method,
  url: addressOf(url, "resumable"),
  headers: {
    "content-type": "application/json; charset=UTF-8",
    "x-upload-content-type": "application/pdf",
    "x-upload-content-length": String(pdf.length)
  },
  body: JSON.stringify(described)
})

/** Asks for a place first, whose address alone admits whoever knows it: the token does not go there. */
const inTwoSteps = (session: AuthorizedSession, upload: Upload) =>
  Effect.gen(function* () {
    const opened: Reply = yield* session.call(opening(upload))
    const { location = "" } = opened.headers
    if (opened.status !== 200) return opened
    if (!URL.canParse(location)) return yield* Effect.fail(plainRefusalOf(opened))
    const put = {
      method: "PUT",
      url: location,
      headers: { "content-type": "application/pdf" },
      body: upload.pdf
    } as const
    const reply = yield* call(put)
    // The place was given up meanwhile: the next attempt asks for another.
    return reply.status === 404 || reply.status === 410 ? yield* Effect.fail(plainRefusalOf(reply)) : reply
  })

/** Puts a file into a drive, and tells what the drive answered in the end. */
export const uploading = (session: AuthorizedSession, upload: Upload) =>
  upload.pdf.length > mostAtOnce ? inTwoSteps(session, upload) : atOnce(session, upload)
