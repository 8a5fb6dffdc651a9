import { assert, it } from "vitest"
import { isConnectionFatal } from "../../../../../src/layers/infra/postgres/connection/TransientErrors.ts"

const errorWith = (code: string) => Object.assign(new Error(code), { code })

it("a connection is unusable after an error of the network, although EPIPE looks like an SQLSTATE", () => {
  for (const code of ["EPIPE", "ECONNRESET", "57P01", "08006"]) assert.isTrue(isConnectionFatal(errorWith(code)), code)
  for (const code of ["23505", "40001", "57014"]) assert.isFalse(isConnectionFatal(errorWith(code)), code)
})
