import type { TenantId } from "../../../domain/tenancy/Tenant.ts"

/** Identifies an issue by the tracker's own id, which stays when the issue's key changes. */
export interface IssueRef {
  readonly tenant: TenantId
  readonly integration: string
  readonly issue: string
}

export const issueRefKey = ({ integration, issue, tenant }: IssueRef) => JSON.stringify([tenant, integration, issue])
