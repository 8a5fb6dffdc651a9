import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startNatsServer } from "../../../support/servers/nats.ts"
import { certificate } from "../webhook/certificate.ts"
import { connectToNats } from "./connectToNats.ts"

/** The server offers TLS and accepts plain connections too. */
const startTlsServer = async () => {
  const nats = await startNatsServer((folder) => {
    for (const [name, text] of Object.entries(certificate)) writeFileSync(join(folder, `${name}.pem`), text)
    const tls = `cert_file: "${join(folder, "cert.pem")}", key_file: "${join(folder, "key.pem")}"`
    return `tls { ${tls} }\nallow_non_tls: true`
  })
  return { url: nats.url, caFile: join(nats.folder, "cert.pem"), stop: nats.remove }
}

describe("The connection to NATS", () => {
  const at = useFixture(startTlsServer)
  const addressOf = (protocol: string) => at().url.replace("nats:", protocol)

  /** Returns the encryption of the connection, or "none" if it does not open within a few attempts. */
  const connectWith = async (environment: Readonly<Record<string, string>>) => {
    // The client shows the encryption only in its transport.
    const { value } = await connectToNats(environment, (connection) =>
      Reflect.get(connection, "protocol").transport.isEncrypted() ? "encrypted" : "plain"
    )
    return value ?? "none"
  }

  it("is encrypted for a tls:// URL with the certificates of NATS_CA_FILE", async () => {
    const settings = { NATS_URL: addressOf("tls:"), NATS_CA_FILE: at().caFile }
    assert.strictEqual(await connectWith(settings), "encrypted")
  })

  it("is encrypted for a nats:// URL if NATS_CA_FILE is set", async () => {
    assert.strictEqual(await connectWith({ NATS_URL: at().url, NATS_CA_FILE: at().caFile }), "encrypted")
  })

  it("is not opened to a server with an untrusted certificate", async () => {
    assert.strictEqual(await connectWith({ NATS_URL: addressOf("tls:") }), "none")
  })

  for (const protocol of ["ws:", "wss:"])
    it(`cannot be configured with a ${protocol}// URL`, async () => {
      const error = await settingsErrors({ NATS_URL: addressOf(protocol) })
      assert.include(error.message, "NATS_URL must be a URL starting with nats:// or tls://")
    })
})
