import type { IncomingMessage } from "node:http"
import { pool } from "../database.ts"
import { mayActAs } from "../roles.ts"
import { type Membership, membership } from "../statements.ts"
import { type Principal, verify } from "../tokens.ts"
import { type Answer, refusal } from "./answer.ts"

const verified = new Map<string, Principal>()

/** Verifies each token once. Nothing is ever forgotten: a reference lives for minutes and sees a handful of them. */
const principalOf = async (authorization: string) => {
  const known = verified.get(authorization)
  if (known !== undefined && known.expires > Date.now()) return known
  const principal = await verify(authorization.replace(/^Bearer +/i, "")).catch(() => undefined)
  if (principal !== undefined) verified.set(authorization, principal)
  return principal
}

/** Runs the work in the caller's tenant: first the bearer, then the tenant, then the role. */
export const inTenant =
  (role: string, work: (request: IncomingMessage, tenant: string) => Promise<Answer>) =>
  async (request: IncomingMessage): Promise<Answer> => {
    const principal = await principalOf(request.headers.authorization ?? "")
    if (principal === undefined) return refusal(401, "Unauthorized", "Unauthorized")
    const tenant = request.headers["tenant-id"]
    if (typeof tenant !== "string") return refusal(400, "ValidationError", "tenant-id is required")
    const values = [tenant, principal.issuer, principal.subject]
    const { rows } = await pool.query<Membership>({ ...membership, values })
    return rows[0] === undefined || !mayActAs(rows[0].role, role)
      ? refusal(403, "Forbidden", "Forbidden")
      : work(request, tenant)
  }
