import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const slotCount = 300
const maxEventBytes = 1_000_000

/** An image of one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

export const manyMediaSlots: Row = {
  name: `${slotCount} media slots on one client, then changes of the client`,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    const clientId = await attacker.create("/clients", { tenant, body: { name: "Branded" } })
    const declaration = { kind: "BRANDING_LOGO", contentType: "image/png", originalFileName: "logo.png" }
    const declared = await attacker.callUntilAccepted("POST", "/assets", { tenant, body: declaration })
    const { data } = JSON.parse(declared.text) as { readonly data: { readonly assetId: string } } // the body of every 201
    await attacker.callUntilAccepted("PUT", `/assets/${data.assetId}/content`, { tenant, body: pixel })
    await attacker.callUntilAccepted("POST", `/assets/${data.assetId}/complete`, { tenant })

    let eventBytes = Number.NaN
    const measureEvents = async () => {
      const { rows } = await client.query<{ bytes: number }>(
        "select coalesce(sum(octet_length(data::text)), 0)::float8 as bytes from events where tenant_id = $1",
        [tenant]
      )
      eventBytes = rows[0]?.bytes ?? Number.NaN
    }
    return {
      run: async (signal) => {
        await repeat({ concurrency: 4, total: slotCount, signal }, (n) =>
          attacker.call("PUT", `/clients/${clientId}/media/slot-${n}`, {
            tenant,
            body: { assetId: data.assetId },
            signal
          })
        )
        await measureEvents()
        await repeat({ concurrency: 4, signal }, (n) =>
          attacker.call("PATCH", `/clients/${clientId}`, { tenant, body: { name: `Branded ${n}` }, signal })
        )
      },
      check: async () => [
        {
          description: `${(eventBytes / 1e6).toFixed(2)} MB of events after the slots (< ${maxEventBytes / 1e6})`,
          isViolation: !(eventBytes < maxEventBytes)
        }
      ]
    }
  }
}
