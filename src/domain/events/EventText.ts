/** An event as it is told, but for its snapshot, which is JSON already. */
export interface ToldEvent {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly tenant: string
  readonly client?: string | undefined
  readonly sequence: number
  /** JSON, as it was recorded. */
  readonly data: string
}

/** The event as JSON: the same characters every time it is told. */
export const eventText = ({ client, data, id, sequence, tenant, timestamp, type }: ToldEvent) =>
  `${JSON.stringify({ id, type, timestamp, tenant, client, sequence }).slice(0, -1)},"data":${data}}`
