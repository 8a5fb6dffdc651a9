import { Pool } from "undici"

export type Method = "GET" | "POST" | "PUT" | "PATCH"

export interface Call {
  readonly tenant?: string | undefined
  /** An object is sent as JSON, a string as JSON already, bytes as they are. */
  readonly body?: object | string | Buffer
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly text: string
}

/** The calls of one caller, over at most so many connections. */
export const connectApi = (base: string, token: string, connections: number) => {
  const pool = new Pool(base, { connections, headersTimeout: 0, bodyTimeout: 0 })
  const isBytes = (body: Call["body"]) => Buffer.isBuffer(body)

  const request = (method: Method, path: string, { body, signal, tenant }: Call) =>
    pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined
          ? {}
          : { "content-type": isBytes(body) ? "application/octet-stream" : "application/json" })
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal })
    })

  return {
    request,
    call: async (method: Method, path: string, call: Call = {}): Promise<Answer> => {
      const { body, statusCode } = await request(method, path, call)
      return { status: statusCode, text: await body.text() }
    },
    close: () => pool.destroy()
  }
}

export type Api = ReturnType<typeof connectApi>

/** The identifier in the answer to a request that creates something. */
export const idIn = ({ text }: Answer) => {
  const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // as every answer to a creating POST
  return data.id
}

/** An answer to a request without which nothing can be measured. */
export const requireSuccess = async (what: string, answer: Promise<Answer>) => {
  const { status, text } = await answer
  if (status >= 300) throw new Error(`${what} was answered ${status}: ${text.slice(0, 200)}`)
  return { status, text }
}
