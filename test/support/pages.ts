import { assert } from "vitest"
import type { CallOptions, Service } from "./service.ts"

/** Every page of a list, each found through the Link header of the one before. */
export const pagesOf = async (service: Service, path: string, options: CallOptions) => {
  const pages: Array<ReadonlyArray<{ readonly id: string }>> = []
  for (let next: string | undefined = `/api/v1${path}`; next !== undefined; ) {
    const { body, headers, status } = await service.call("GET", next, options)
    assert.strictEqual(status, 200, next)
    pages.push(body.data)
    const link = headers.get("link")
    next = link === null ? undefined : /^<(\/api\/v1\/[^>]+)>; rel="next"$/.exec(link)?.[1]
    assert.isTrue(link === null || next !== undefined, `the Link header ${link}`)
    assert.isBelow(pages.length, 100, "the pages do not end")
  }
  return pages
}
