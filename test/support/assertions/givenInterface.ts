/** An operation of the given interface: whether it needs the tenant-id header, its success, and the failures listed. */
export interface InterfaceOperation {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly tenantHeader: boolean
  readonly success: number
  readonly failures: ReadonlyArray<number>
}

const listed = (
  method: InterfaceOperation["method"],
  path: string,
  tenant: "in tenant" | "no tenant",
  success: number,
  ...failures: ReadonlyArray<number>
): InterfaceOperation => ({ method, path: `/api/v1${path}`, tenantHeader: tenant === "in tenant", success, failures })

/** The part of the interface that is there, and is held to what the interface says. */
export const implementedOperations: ReadonlyArray<InterfaceOperation> = [
  listed("POST", "/tenants", "no tenant", 201, 400, 401, 404),
  listed("GET", "/clients", "in tenant", 200, 401, 403, 404),
  listed("DELETE", "/tenants/{tenantId}", "no tenant", 204, 401, 404),
  listed("POST", "/assets/{assetId}/complete", "in tenant", 200, 400, 401, 403, 404),
  listed("POST", "/billables", "in tenant", 201, 400, 401, 403, 404),
  listed("POST", "/invoices/{invoiceId}/void", "in tenant", 200, 400, 401, 403, 404),
  listed("POST", "/addresses", "in tenant", 201, 400, 401, 403, 404),
  listed("PATCH", "/projects/{projectId}", "in tenant", 200, 400, 401, 403, 404),
  listed("GET", "/projects/{projectId}", "no tenant", 200, 401, 403, 404),
  listed("PATCH", "/emails/{emailId}", "in tenant", 200, 400, 401, 403, 404),
  listed("GET", "/integrations/{integrationId}", "in tenant", 200, 401, 403, 404),
  listed("POST", "/webhooks/{endpointKey}", "no tenant", 200, 400, 401, 404),
  // The interface lists no failures for it, and says that what is blocked gets 401 and 403 everywhere.
  listed("GET", "/integrations/oauth/callback", "no tenant", 200, 401, 403)
]

/** The part that is still to come. Whoever adds one of these moves its line up. */
export const pendingOperations: ReadonlyArray<InterfaceOperation> = []
