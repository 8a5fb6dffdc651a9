import type { FastifyRequest } from "fastify"
import { ApiError } from "../apiError.ts"
import type { Caller } from "../caller.ts"
import { pool } from "../database.ts"
import { hasRole } from "../roles.ts"
import { type Membership, membershipStatement } from "../statements.ts"
import { type Principal, verifyToken } from "../tokens.ts"

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal
    caller: Caller
  }
}

const unauthorized = () => new ApiError(401, "Unauthorized", "Unauthorized")

const authenticate = ({ headers }: FastifyRequest) => {
  const token = /^Bearer +([\w~+/.=-]+)$/i.exec(headers.authorization ?? "")?.[1]
  if (token === undefined) throw unauthorized()
  return verifyToken(token).catch(() => {
    throw unauthorized()
  })
}

/** For operations that find the tenant by the resource and read it with the membership in one statement. */
export const requireCaller = async (request: FastifyRequest) => {
  request.principal = await authenticate(request)
}

/** Checks the token, then the tenant, then the role. */
export const requireRole = (role: string) => async (request: FastifyRequest) => {
  const { issuer, subject } = await authenticate(request)
  const tenant = request.headers["tenant-id"]
  if (typeof tenant !== "string" || !/^tnt_[a-z0-9]{1,64}$/.test(tenant)) {
    throw new ApiError(400, "ValidationError", "tenant-id must be a tenant identifier")
  }
  const { rows } = await pool.query<Membership>({ ...membershipStatement, values: [tenant, issuer, subject] })
  if (rows[0] === undefined || !hasRole(rows[0].role, role)) throw new ApiError(403, "Forbidden", "Forbidden")
  request.caller = { tenant, subject }
}
