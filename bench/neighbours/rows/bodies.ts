import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const mebibyte = 1024 * 1024

/** The maximum size of a body of billables, with as many elements as fit. */
const makeEmptyLines = () => {
  const [start, end] = ['{"invoiceId":"inv_00000000000000000000000000","billables":[{}', "]}"]
  return start + ",{}".repeat(Math.floor((4 * mebibyte - start.length - end.length) / 3)) + end
}

const makeUnknownKeys = () => {
  const keys = Array.from({ length: 90_000 }, (_, n) => `"k${String(n).padStart(5, "0")}":1`)
  return `{${keys.join(",")}}`
}

const makeBodyRow = (name: string, path: string, makeBody: () => string): Row => ({
  name,
  prepare: async ({ attacker }) => {
    const tenant = await attacker.createTenant()
    const body = makeBody()
    return {
      run: (signal) => repeat({ concurrency: 2, signal }, () => attacker.call("POST", path, { tenant, body, signal }))
    }
  }
})

export const largeBodies: ReadonlyArray<Row> = [
  makeBodyRow("POST /billables of 4 MiB of empty objects, 2 at once", "/billables", makeEmptyLines),
  makeBodyRow("POST /clients with 90 000 unknown keys, 2 at once", "/clients", makeUnknownKeys)
]
