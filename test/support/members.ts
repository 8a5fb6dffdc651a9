import { assert } from "vitest"
import type { Service } from "./service.ts"

/** Lets somebody into a tenant of `owner`; tells the id of the member. */
export const admit = async (service: Service, tenant: string, subject: string, role: string) => {
  const { body, status, text } = await service.api("POST", "/members", {
    as: "owner",
    tenant,
    body: { subject, role }
  })
  assert.strictEqual(status, 201, text)
  return String(body.data.id)
}
