import type { TenantId } from "../../../domain/tenancy/Tenant.ts"

/** An issue of a tracker, as the tracker calls it. */
export interface IssueKey {
  readonly tenant: TenantId
  readonly integration: string
  readonly issue: string
}

export const nameOf = ({ integration, issue, tenant }: IssueKey) => JSON.stringify([tenant, integration, issue])
