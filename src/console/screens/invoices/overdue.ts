import type { Schemas } from "../../api/client.ts"

/** Whether payment is late. The API filters by the same rule. */
export const isOverdue = ({ dueAt, status }: Pick<Schemas["Invoice"], "status" | "dueAt">) =>
  status === "FINALIZED" && dueAt !== undefined && new Date(dueAt) < new Date()
