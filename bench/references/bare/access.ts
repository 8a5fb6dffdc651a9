import type { IncomingMessage } from "node:http"
import type { Caller } from "../caller.ts"
import { pool } from "../database.ts"
import { hasRole } from "../roles.ts"
import { type Membership, membershipStatement } from "../statements.ts"
import { type Principal, verifyToken } from "../tokens.ts"
import { type HttpResponse, makeError } from "./response.ts"

const authenticate = (authorization: string) =>
  verifyToken(authorization.replace(/^Bearer +/i, "")).catch(() => undefined)

type Handler<Who> = (request: IncomingMessage, who: Who) => Promise<HttpResponse>

/** For operations that find the tenant by the resource. */
export const withCaller =
  (handle: Handler<Principal>) =>
  async (request: IncomingMessage): Promise<HttpResponse> => {
    const principal = await authenticate(request.headers.authorization ?? "")
    return principal === undefined ? makeError(401, "Unauthorized", "Unauthorized") : handle(request, principal)
  }

/** Checks the token, then the tenant, then the role. */
export const withTenant = (role: string, handle: Handler<Caller>) =>
  withCaller(async (request, { issuer, subject }) => {
    const tenant = request.headers["tenant-id"]
    if (typeof tenant !== "string") return makeError(400, "ValidationError", "tenant-id is required")
    const { rows } = await pool.query<Membership>({ ...membershipStatement, values: [tenant, issuer, subject] })
    return rows[0] === undefined || !hasRole(rows[0].role, role)
      ? makeError(403, "Forbidden", "Forbidden")
      : handle(request, { tenant, subject })
  })
