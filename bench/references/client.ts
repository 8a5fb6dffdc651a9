import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"
import type { ClientRow } from "./statements.ts"

export interface NewClient {
  readonly name: string
  readonly description?: string
  readonly order?: number
}

export interface Client extends NewClient {
  readonly id: string
  readonly media: ReadonlyArray<unknown>
  readonly createdAt: string
  readonly updatedAt: string
}

export const makeClient = ({ description, name, order }: NewClient): Client => {
  const at = new Date().toISOString()
  return {
    id: newId("clnt"),
    name,
    ...(description === undefined ? {} : { description }),
    ...(order === undefined ? {} : { order }),
    media: [],
    createdAt: at,
    updatedAt: at
  }
}

/** The values of `createClientStatement`. */
export const toInsertValues = ({ subject, tenant }: Caller, client: Client) => {
  const { createdAt, description = null, id, name, order = null } = client
  return [
    ...[tenant, id, name, description, order, "[]", createdAt, createdAt, 1],
    ...[tenant, newId("evt"), "client.created", id, id, 1, createdAt, subject, null, JSON.stringify(client)]
  ]
}

/** A null column is an absent field. */
export const toClient = ({ createdAt, description, id, media, name, order, updatedAt }: ClientRow): Client => ({
  id,
  name,
  ...(description === null ? {} : { description }),
  ...(order === null ? {} : { order }),
  media,
  createdAt,
  updatedAt
})
