import { createHash, randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { type ApiRequest, bearerOf, sendJson, startJsonServer } from "./jsonServer.ts"

export interface StoredFile {
  readonly id: string
  readonly name: string
  readonly mimeType: string
  readonly parents?: ReadonlyArray<string>
  readonly appProperties?: Readonly<Record<string, string>>
  readonly bytes: Buffer
  trashed: boolean
}

/** A refusal in the words of the drive. */
export const sendDriveError = (
  response: ServerResponse,
  code: number,
  reason: string,
  headers?: Record<string, string>
) =>
  sendJson(
    response,
    code,
    { error: { code, message: `Refused: ${reason}`, errors: [{ domain: "global", reason, message: reason }] } },
    headers
  )

const partsOf = ({ body, headers }: ApiRequest) => {
  const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? ""
  const text = body.toString("latin1")
  const [, first = "", second = ""] = text.split(`--${boundary}`)
  const contentOf = (part: string) => part.slice(part.indexOf("\r\n\r\n") + 4, -2)
  return {
    described: JSON.parse(Buffer.from(contentOf(first), "latin1").toString()),
    bytes: Buffer.from(contentOf(second), "latin1")
  }
}

/** Google's drive, as far as we use it: folders that exist, one token that counts, and files by their identifiers. */
export const startGoogleDrive = async (...folders: ReadonlyArray<string>) => {
  const state = { accepts: (token: string): boolean => token === "valid", ids: 0 }
  const files = new Map<string, StoredFile>()
  const sessions = new Map<string, { readonly described: StoredFile; readonly isNew: boolean }>()

  const shown = ({ appProperties, bytes, id, name, trashed }: StoredFile) => ({
    id,
    name,
    trashed,
    appProperties,
    size: String(bytes.length),
    md5Checksum: createHash("md5").update(bytes).digest("hex")
  })

  const fault = (described: StoredFile, isNew: boolean): [number, string] | undefined => {
    if (!isNew) return files.has(described.id) ? undefined : [404, "notFound"]
    if (described.parents?.some((parent) => !folders.includes(parent))) return [404, "notFound"]
    return files.has(described.id) ? [409, "fileIdInUse"] : undefined
  }

  const store = (response: ServerResponse, described: StoredFile, bytes: Buffer, isNew: boolean) => {
    const wrong = fault(described, isNew)
    if (wrong !== undefined) return sendDriveError(response, ...wrong)
    const file = { ...files.get(described.id), ...described, bytes, trashed: false }
    files.set(file.id, file)
    return sendJson(response, 200, shown(file))
  }

  const open = (asked: ApiRequest, response: ServerResponse, described: StoredFile, isNew: boolean) => {
    const wrong = fault(described, isNew)
    if (wrong !== undefined) return sendDriveError(response, ...wrong)
    const session = randomUUID()
    sessions.set(session, { described, isNew })
    return sendJson(response, 200, {}, { location: `http://${asked.headers.host}/session/${session}` })
  }

  const upload = (asked: ApiRequest, response: ServerResponse) => {
    const isNew = asked.method === "POST"
    const target = isNew ? {} : { id: asked.url.pathname.split("/").at(-1) ?? "" }
    if (asked.url.searchParams.get("uploadType") === "resumable")
      return open(asked, response, { ...JSON.parse(asked.body.toString()), ...target }, isNew)
    if (asked.body.length > 5 * 1024 * 1024) return sendDriveError(response, 413, "uploadTooLarge")
    const { bytes, described } = partsOf(asked)
    return store(response, { ...described, ...target }, bytes, isNew)
  }

  const read = (asked: ApiRequest, response: ServerResponse) => {
    const last = asked.url.pathname.split("/").at(-1) ?? ""
    if (last === "generateIds") return sendJson(response, 200, { ids: [`file${++state.ids}`] })
    const file = files.get(last)
    return file === undefined ? sendDriveError(response, 404, "notFound") : sendJson(response, 200, shown(file))
  }

  const server = await startJsonServer((asked, response) => {
    const session = sessions.get(asked.url.pathname.split("/").at(-1) ?? "")
    if (asked.method === "PUT" && session !== undefined)
      return store(response, session.described, asked.body, session.isNew)
    if (!state.accepts(bearerOf(asked))) return sendDriveError(response, 401, "authError")
    return asked.url.pathname.startsWith("/upload/") ? upload(asked, response) : read(asked, response)
  })

  return {
    ...server,
    files,
    /** From now on no other token counts. */
    rotate: (token: string) => {
      state.accepts = (given) => given === token
    },
    /** From now on those tokens count that somebody else says so of. */
    trust: (accepts: (token: string) => boolean) => {
      state.accepts = accepts
    },
    uploads: () => server.requests.filter(({ method, url }) => method !== "GET" && url.pathname.startsWith("/upload/"))
  }
}

export type GoogleDriveServer = Awaited<ReturnType<typeof startGoogleDrive>>
