import type { FastifyRequest } from "fastify"
import { pool } from "../database.ts"
import { Refused } from "../refused.ts"
import { mayActAs } from "../roles.ts"
import { type Membership, membership } from "../statements.ts"
import { type Principal, verify } from "../tokens.ts"

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal
    tenant: string
  }
}

const unauthorized = () => new Refused(401, "Unauthorized", "Unauthorized")

const principalOf = ({ headers }: FastifyRequest) => {
  const token = /^Bearer +([\w~+/.=-]+)$/i.exec(headers.authorization ?? "")?.[1]
  if (token === undefined) throw unauthorized()
  return verify(token).catch(() => {
    throw unauthorized()
  })
}

/** For what leads to its tenant by itself, and is read in one statement with the membership. */
export const requireCaller = async (request: FastifyRequest) => {
  request.principal = await principalOf(request)
}

/** First the bearer, then the tenant, then the role. */
export const requireRole = (role: string) => async (request: FastifyRequest) => {
  const { issuer, subject } = await principalOf(request)
  const tenant = request.headers["tenant-id"]
  if (typeof tenant !== "string" || !/^tnt_[a-z0-9]{1,64}$/.test(tenant)) {
    throw new Refused(400, "ValidationError", "tenant-id must be a tenant identifier")
  }
  const { rows } = await pool.query<Membership>({ ...membership, values: [tenant, issuer, subject] })
  if (rows[0] === undefined || !mayActAs(rows[0].role, role)) throw new Refused(403, "Forbidden", "Forbidden")
  request.tenant = tenant
}
