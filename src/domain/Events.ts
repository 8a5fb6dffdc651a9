import type { Resource } from "./Ids.ts"

/** What can happen to each resource. An event's type is `<resource>.<action>`. */
export const actions = {
  tenant: ["created", "updated", "deleted"],
  member: ["created", "updated", "deleted"],
  client: ["created", "updated", "deleted"]
} as const satisfies Partial<Record<Resource, ReadonlyArray<string>>>

export type Eventful = keyof typeof actions
export type EventType = { [R in Eventful]: `${R}.${(typeof actions)[R][number]}` }[Eventful]
