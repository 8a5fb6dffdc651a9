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

/** An error response of Google Drive. */
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

const parseMultipart = ({ body, headers }: ApiRequest) => {
  const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? ""
  const text = body.toString("latin1")
  const [, first = "", second = ""] = text.split(`--${boundary}`)
  const contentOf = (part: string) => part.slice(part.indexOf("\r\n\r\n") + 4, -2)
  return {
    metadata: JSON.parse(Buffer.from(contentOf(first), "latin1").toString()),
    bytes: Buffer.from(contentOf(second), "latin1")
  }
}

/** A fake of Google Drive: existing folders, one accepted token, and files by id. */
export const startGoogleDrive = async (...folders: ReadonlyArray<string>) => {
  const state = { accepts: (token: string): boolean => token === "valid", ids: 0 }
  const files = new Map<string, StoredFile>()
  const sessions = new Map<string, { readonly described: StoredFile; readonly isNew: boolean }>()

  const toResponse = ({ appProperties, bytes, id, name, trashed }: StoredFile) => ({
    id,
    name,
    trashed,
    appProperties,
    size: String(bytes.length),
    md5Checksum: createHash("md5").update(bytes).digest("hex")
  })

  const findError = (metadata: StoredFile, isNew: boolean): [number, string] | undefined => {
    if (!isNew) return files.has(metadata.id) ? undefined : [404, "notFound"]
    if (metadata.parents?.some((parent) => !folders.includes(parent))) return [404, "notFound"]
    return files.has(metadata.id) ? [409, "fileIdInUse"] : undefined
  }

  const store = (response: ServerResponse, metadata: StoredFile, bytes: Buffer, isNew: boolean) => {
    const error = findError(metadata, isNew)
    if (error !== undefined) return sendDriveError(response, ...error)
    const file = { ...files.get(metadata.id), ...metadata, bytes, trashed: false }
    files.set(file.id, file)
    return sendJson(response, 200, toResponse(file))
  }

  const openSession = (request: ApiRequest, response: ServerResponse, metadata: StoredFile, isNew: boolean) => {
    const error = findError(metadata, isNew)
    if (error !== undefined) return sendDriveError(response, ...error)
    const session = randomUUID()
    sessions.set(session, { described: metadata, isNew })
    return sendJson(response, 200, {}, { location: `http://${request.headers.host}/session/${session}` })
  }

  const upload = (request: ApiRequest, response: ServerResponse) => {
    const isNew = request.method === "POST"
    const target = isNew ? {} : { id: request.url.pathname.split("/").at(-1) ?? "" }
    if (request.url.searchParams.get("uploadType") === "resumable")
      return openSession(request, response, { ...JSON.parse(request.body.toString()), ...target }, isNew)
    if (request.body.length > 5 * 1024 * 1024) return sendDriveError(response, 413, "uploadTooLarge")
    const { bytes, metadata } = parseMultipart(request)
    return store(response, { ...metadata, ...target }, bytes, isNew)
  }

  const read = (request: ApiRequest, response: ServerResponse) => {
    const last = request.url.pathname.split("/").at(-1) ?? ""
    if (last === "generateIds") return sendJson(response, 200, { ids: [`file${++state.ids}`] })
    const file = files.get(last)
    return file === undefined ? sendDriveError(response, 404, "notFound") : sendJson(response, 200, toResponse(file))
  }

  const server = await startJsonServer((request, response) => {
    const session = sessions.get(request.url.pathname.split("/").at(-1) ?? "")
    if (request.method === "PUT" && session !== undefined)
      return store(response, session.described, request.body, session.isNew)
    if (!state.accepts(bearerOf(request))) return sendDriveError(response, 401, "authError")
    return request.url.pathname.startsWith("/upload/") ? upload(request, response) : read(request, response)
  })

  return {
    ...server,
    files,
    /** Accepts only this token. */
    rotate: (token: string) => {
      state.accepts = (given) => given === token
    },
    /** Sets which tokens are accepted. */
    trust: (accepts: (token: string) => boolean) => {
      state.accepts = accepts
    },
    uploads: () => server.requests.filter(({ method, url }) => method !== "GET" && url.pathname.startsWith("/upload/"))
  }
}

export type GoogleDriveServer = Awaited<ReturnType<typeof startGoogleDrive>>
