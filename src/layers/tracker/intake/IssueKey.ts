import type { TenantId } from "../../../domain/tenancy/Tenant.ts"

/** Identifies an issue by the tracker's own id, which stays when the issue's key changes. */
export interface IssueKey {
  readonly tenant: TenantId
  readonly integration: string
  readonly issue: string
}

export const nameOf = ({ integration, issue, tenant }: IssueKey) => JSON.stringify([tenant, integration, issue])
