import { Pool } from "undici"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface CallOptions {
  readonly tenant?: string | undefined
  /** Objects are serialized as JSON; strings are sent as JSON, buffers as octets. */
  readonly body?: object | string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface ApiResponse {
  readonly status: number
  readonly text: string
}

/** The API as one caller, over at most `connections` connections. */
export const connectApi = (baseUrl: string, token: string, connections: number) => {
  const pool = new Pool(baseUrl, { connections, headersTimeout: 0, bodyTimeout: 0 })
  const isBytes = (body: CallOptions["body"]) => Buffer.isBuffer(body)

  const request = (method: Method, path: string, { body, headers, signal, tenant }: CallOptions) =>
    pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === undefined
          ? {}
          : { "content-type": isBytes(body) ? "application/octet-stream" : "application/json" }),
        ...headers
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal })
    })

  return {
    request,
    call: async (method: Method, path: string, call: CallOptions = {}): Promise<ApiResponse> => {
      const { body, statusCode } = await request(method, path, call)
      return { status: statusCode, text: await body.text() }
    },
    close: () => pool.destroy()
  }
}

export type Api = ReturnType<typeof connectApi>

/** The id in the response to a creation. */
export const parseId = ({ text }: ApiResponse) => {
  const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // the body of every 201
  return data.id
}

/** Fails when a request that the measurement depends on fails. */
export const requireSuccess = async (description: string, response: Promise<ApiResponse>) => {
  const { status, text } = await response
  if (status >= 300) throw new Error(`${description} returned ${status}: ${text.slice(0, 200)}`)
  return { status, text }
}
