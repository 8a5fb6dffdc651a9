import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schedule } from "effect"
import { assert, describe, it } from "vitest"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { Broker } from "../../../src/layers/nats/Broker.ts"
import { settingsErrors } from "../../support/assertions/settingsErrors.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startNatsServer } from "../../support/servers/nats.ts"
import { certificate } from "../webhook/certificate.ts"

/** It offers encryption and takes those who do without as well. */
const startEncrypted = async () => {
  const nats = await startNatsServer((folder) => {
    for (const [name, text] of Object.entries(certificate)) writeFileSync(join(folder, `${name}.pem`), text)
    const tls = `cert_file: "${join(folder, "cert.pem")}", key_file: "${join(folder, "key.pem")}"`
    return `tls { ${tls} }\nallow_non_tls: true`
  })
  return { url: nats.url, caFile: join(nats.folder, "cert.pem"), stop: nats.remove }
}

describe("the connection to NATS", () => {
  const at = useFixture(startEncrypted)
  const addressOf = (protocol: string) => at().url.replace("nats:", protocol)

  /** How the broker is connected within a few tries, if it is. */
  const connectionWith = (environment: Readonly<Record<string, string>>) =>
    Effect.flatMap(Broker, (broker) => broker.connection).pipe(
      Effect.retry({ times: 60, schedule: Schedule.spaced("50 millis") }),
      // The client has no word for it beside that of its transport.
      Effect.map((connection) => (Reflect.get(connection, "protocol").transport.isEncrypted() ? "encrypted" : "plain")),
      Effect.catchTag("BrokerError", () => Effect.succeed("none")),
      Effect.provide(Broker.Default),
      Effect.provideServiceEffect(Settings, readSettings(environment)),
      Effect.runPromise
    )

  it("is encrypted to a tls:// address, with the certificates of NATS_CA_FILE", async () => {
    const settings = { NATS_URL: addressOf("tls:"), NATS_CA_FILE: at().caFile }
    assert.strictEqual(await connectionWith(settings), "encrypted")
  })

  it("is encrypted to a nats:// address as well when NATS_CA_FILE is set", async () => {
    assert.strictEqual(await connectionWith({ NATS_URL: at().url, NATS_CA_FILE: at().caFile }), "encrypted")
  })

  it("is not made to a server whose certificate nobody signed that is trusted", async () => {
    assert.strictEqual(await connectionWith({ NATS_URL: addressOf("tls:") }), "none")
  })

  for (const protocol of ["ws:", "wss:"])
    it(`is refused at a ${protocol}// address, which the service does not speak`, async () => {
      const refused = await settingsErrors({ NATS_URL: addressOf(protocol) })
      assert.include(refused.message, "NATS_URL must be a URL starting with nats:// or tls://")
    })
})
