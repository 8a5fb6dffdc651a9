import { assert } from "vitest"
import { png } from "./images.ts"
import type { Answered, Service } from "./service.ts"

/** An asset as the interface shows it. */
export interface ShownAsset {
  readonly assetId: string
  readonly kind: string
  readonly access: string
  readonly source: string
  readonly status: string
  readonly contentType: string
  readonly originalFileName?: string
  readonly sizeBytes?: number
  readonly etag?: string
  readonly url?: string
  readonly createdAt: string
  readonly updatedAt: string
}

type Headers = Readonly<Record<string, string>>

export const leastAsset = { kind: "BRANDING_LOGO", contentType: "image/png" }

/** The most bytes an image can have. */
export const mostBytes = 5 * 1024 * 1024

/** What can be done to assets in a tenant, one request each. */
export const assetsIn = (service: Pick<Service, "api">, tenant: string, as = "owner") => {
  const call = (method: string, path: string, body?: unknown, headers: Headers = {}) =>
    service.api(method, `/assets${path}`, { as, tenant, headers, ...(body === undefined ? {} : { body }) })

  const succeeded = (answer: Answered, status: number): ShownAsset => {
    assert.strictEqual(answer.status, status, answer.text)
    return answer.body.data
  }

  const put = (id: string, bytes: Uint8Array, headers?: Headers) => call("PUT", `/${id}/content`, bytes, headers)
  const complete = (id: string, headers?: Headers) => call("POST", `/${id}/complete`, undefined, headers)
  const declare = async (fields: object = {}) => succeeded(await call("POST", "", { ...leastAsset, ...fields }), 201)

  /** Declared, and its bytes sent; not looked at yet. */
  const uploaded = async (bytes: Uint8Array, fields: object = {}) => {
    const { assetId } = await declare(fields)
    return succeeded(await put(assetId, bytes), 200)
  }

  return {
    call,
    put,
    complete,
    declare,
    uploaded,
    record: (id: string) => call("GET", `/${id}/record`),
    patch: (id: string, change: object, headers?: Headers) => call("PATCH", `/${id}`, change, headers),
    remove: (id: string, headers?: Headers) => call("DELETE", `/${id}`, undefined, headers),
    ready: async (fields: object = {}, bytes: Uint8Array = png()) => {
      const { assetId } = await uploaded(bytes, fields)
      return succeeded(await complete(assetId), 200)
    }
  }
}

export type AssetsOfTenant = ReturnType<typeof assetsIn>
