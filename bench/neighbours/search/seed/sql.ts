import { numberLength, type Pools } from "../pools.ts"

/** What the statements of a seed read from settings of their session. */
export type SeedSettings = Readonly<Record<"tenant" | "webhook" | "parties", string>>

export const setting = (name: keyof SeedSettings) => `current_setting('seed.${name}')`
export const tenant = setting("tenant")

export const text = "Framework agreement since 2019, paid on 30 days. Deliveries only before noon. "

/** An identifier of a pool by number. */
export const id = (label: string, n: number | string = "n") => `'${label}' || lpad((${n})::text, ${numberLength}, '0')`

export const series = (size: number) => `generate_series(0, ${size - 1}) n`

export const name = `(array['Nordwind', 'Ölmühle', 'Baker & Sons', 'Quarry Lane', 'Atelier 9'])[1 + n % 5] || ' ' || n`

const days = 3650

/** Times over ten years. */
export const spread = (size: number) => `timestamptz '2016-01-01Z' + n * interval '${days} days' / ${size}`

export const sizesOf = (pools: Pools) => (pool: string) => pools[pool]?.size ?? 0
