/** The part of a resource that the walkthrough uses. */
export interface CreatedResource {
  readonly id: string
}

/** The HTTP API for the bearer of a token, in a tenant if given. */
export const connectApi = (url: string, token: string, tenant?: string) => {
  const send = async (
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    contentType: string
  ) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(tenant === undefined ? {} : { "tenant-id": tenant }),
        ...(body === null ? {} : { "content-type": contentType })
      },
      body
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
    return text
  }

  /** Sends a request and returns `data` of the response, which the caller knows the type of. */
  const call = async <A = CreatedResource>(method: string, path: string, fields?: object): Promise<A> => {
    const body = fields === undefined ? null : JSON.stringify(fields)
    const { data }: { readonly data: A } = JSON.parse(await send(method, path, body, "application/json"))
    return data
  }

  return {
    get: <A>(path: string) => call<A>("GET", path),
    post: <A = CreatedResource>(path: string, fields?: object) => call<A>("POST", path, fields),
    put: (path: string, fields: object) => call("PUT", path, fields),
    patch: (path: string, fields: object) => call("PATCH", path, fields),
    upload: (path: string, bytes: Uint8Array<ArrayBuffer>) => send("PUT", path, bytes, "application/octet-stream")
  }
}

export type Api = ReturnType<typeof connectApi>
