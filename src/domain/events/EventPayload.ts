/** An event as receivers get it. `data` is encoded already. */
export interface EventPayload {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly tenant: string
  readonly client?: string | undefined
  readonly sequence: number
  readonly createdBy?: string | undefined
  /** JSON, as it was recorded with the event. */
  readonly data: string
}

/** Encodes an event as JSON. Every attempt sends the same bytes. */
export const encodeEventPayload = ({ client, createdBy, data, id, sequence, tenant, timestamp, type }: EventPayload) =>
  `${JSON.stringify({ id, type, timestamp, tenant, client, sequence, createdBy }).slice(0, -1)},"data":${data}}`
