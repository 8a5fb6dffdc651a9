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

type Work<Who> = (request: IncomingMessage, who: Who) => Promise<Answer>

/** Runs the work for whoever is known, where it finds out by itself what is theirs. */
export const asCaller =
  (work: Work<Principal>) =>
  async (request: IncomingMessage): Promise<Answer> => {
    const principal = await principalOf(request.headers.authorization ?? "")
    return principal === undefined ? refusal(401, "Unauthorized", "Unauthorized") : work(request, principal)
  }

/** Runs the work in the caller's tenant: first the bearer, then the tenant, then the role. */
export const inTenant = (role: string, work: Work<string>) =>
  asCaller(async (request, { issuer, subject }) => {
    const tenant = request.headers["tenant-id"]
    if (typeof tenant !== "string") return refusal(400, "ValidationError", "tenant-id is required")
    const { rows } = await pool.query<Membership>({ ...membership, values: [tenant, issuer, subject] })
    return rows[0] === undefined || !mayActAs(rows[0].role, role)
      ? refusal(403, "Forbidden", "Forbidden")
      : work(request, tenant)
  })
