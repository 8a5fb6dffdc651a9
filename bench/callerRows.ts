import { defaultReferences, type ReferenceName, type Row, type RowRequest } from "./row.ts"
import type { SeedTenant } from "./tenants.ts"

type Tenants = ReadonlyArray<SeedTenant>

/** Requests for the items of several tenants, each by the caller of its tenant: the first items of all, then the second. */
export const inTurns = <A>(
  tenants: Tenants,
  itemsOf: (tenant: SeedTenant) => ReadonlyArray<A>,
  makeRequest: (tenant: SeedTenant, item: A, n: number) => RowRequest
): ReadonlyArray<RowRequest> => {
  const length = Math.max(...tenants.map((tenant) => itemsOf(tenant).length))
  const places = Array.from({ length }, (_, place) => place)
  return places
    .flatMap((place) =>
      tenants.flatMap((tenant) =>
        itemsOf(tenant)
          .slice(place, place + 1)
          .map((item) => ({ tenant, item }))
      )
    )
    .map(({ item, tenant }, n) => ({ ...makeRequest(tenant, item, n), caller: tenant.caller }))
}

/** The same row for one caller and for many, each with a tenant of its own: what callers share hides in the first. */
export const byCallers = (
  name: string,
  makeRow: (tenants: Tenants) => Omit<Row, "name">,
  one: SeedTenant,
  many: Tenants,
  references: ReadonlyArray<ReferenceName> = defaultReferences
): ReadonlyArray<Row> => [
  { ...makeRow([one]), name, references },
  { ...makeRow(many), name: `${name}, ${many.length} callers`, references, baselineRow: name }
]
