/** What every answer about one resource holds. */
export interface Made {
  readonly id: string
}

/** The service's HTTP API for whoever has the token, in a tenant once there is one. */
export const apiAt = (url: string, token: string, tenant?: string) => {
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
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
    return text
  }

  /** One request; what is in the answer's `data` is what the caller says it expects there. */
  const call = async <A = Made>(method: string, path: string, fields?: object): Promise<A> => {
    const body = fields === undefined ? null : JSON.stringify(fields)
    const { data }: { readonly data: A } = JSON.parse(await send(method, path, body, "application/json"))
    return data
  }

  return {
    get: <A>(path: string) => call<A>("GET", path),
    post: <A = Made>(path: string, fields?: object) => call<A>("POST", path, fields),
    put: (path: string, fields: object) => call("PUT", path, fields),
    upload: (path: string, bytes: Uint8Array<ArrayBuffer>) => send("PUT", path, bytes, "application/octet-stream")
  }
}

export type Api = ReturnType<typeof apiAt>
