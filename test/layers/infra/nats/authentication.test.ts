import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { nkeys } from "nats"
import { assert, describe, it } from "vitest"
import { settingsErrors } from "../../../support/assertions/settingsErrors.ts"
import { startNatsServer } from "../../../support/servers/nats.ts"
import { certificate } from "../webhook/certificate.ts"
import { connectToNats } from "./connectToNats.ts"

const toBase64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

type KeyPair = ReturnType<typeof nkeys.createUser>

/** A token as NATS signs it: Ed25519 by the issuer's nkey. */
const signClaims = (issuer: KeyPair, subject: KeyPair, name: string, nats: Readonly<Record<string, unknown>>) => {
  const claims = { jti: name, iat: 0, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name, nats }
  const text = `${toBase64Url({ typ: "JWT", alg: "ed25519-nkey" })}.${toBase64Url(claims)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`
}

const unlimited = { subs: -1, data: -1, payload: -1 }

/** An operator with two accounts, one of them the system's, and the credentials file of a user of the other. */
const makeCredentials = () => {
  const [operator, account, system, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser()
  ]
  const limits = { ...unlimited, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true }
  const preload = [account, system].map(
    (known) =>
      `${known.getPublicKey()}: ${signClaims(operator, known, "account", { type: "account", version: 2, limits })}`
  )
  const userToken = signClaims(account, user, "contracting", { type: "user", version: 2, ...unlimited })
  const seed = Buffer.from(user.getSeed()).toString()
  return {
    config: `operator: ${signClaims(operator, operator, "operator", { type: "operator", version: 2 })}
resolver: MEMORY
resolver_preload: { ${preload.join(", ")} }
system_account: ${system.getPublicKey()}`,
    file: [
      "-----BEGIN NATS USER JWT-----",
      userToken,
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      seed,
      "------END USER NKEY SEED------",
      ""
    ].join("\n")
  }
}

type Environment = Readonly<Record<string, string>>

interface Way {
  readonly name: string
  /** Writes files into the folder; returns the configuration of the server and the settings that it accepts. */
  readonly prepare: (folder: string) => {
    readonly config: string
    readonly right: Environment
    readonly wrong: Environment
  }
}

const writeInto = (folder: string, name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const seedFile = (folder: string, name: string, user: KeyPair) =>
  writeInto(folder, name, `${Buffer.from(user.getSeed())}\n`)

const ways: ReadonlyArray<Way> = [
  {
    name: "a token",
    prepare: () => ({
      config: `authorization { token: "right-token" }`,
      right: { NATS_TOKEN: "right-token" },
      wrong: { NATS_TOKEN: "wrong-token" }
    })
  },
  {
    name: "an nkey",
    prepare: (folder) => {
      const [user, stranger] = [nkeys.createUser(), nkeys.createUser()]
      return {
        config: `authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`,
        right: { NATS_NKEY_FILE: seedFile(folder, "user.nk", user) },
        wrong: { NATS_NKEY_FILE: seedFile(folder, "stranger.nk", stranger) }
      }
    }
  },
  {
    name: "a credentials file",
    prepare: (folder) => {
      const { config, file } = makeCredentials()
      return {
        config,
        right: { NATS_CREDENTIALS_FILE: writeInto(folder, "user.creds", file) },
        wrong: { NATS_CREDENTIALS_FILE: writeInto(folder, "stranger.creds", makeCredentials().file) }
      }
    }
  },
  {
    name: "a client certificate",
    prepare: (folder) => {
      const [cert, key] = [
        writeInto(folder, "cert.pem", certificate.cert),
        writeInto(folder, "key.pem", certificate.key)
      ]
      return {
        config: `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${cert}", verify: true }`,
        right: { NATS_CA_FILE: cert, NATS_CERT_FILE: cert, NATS_KEY_FILE: key },
        wrong: { NATS_CA_FILE: cert }
      }
    }
  }
]

describe("A process authenticates to NATS with", () => {
  for (const { name, prepare } of ways)
    it(name, async () => {
      let settings: { readonly right: Environment; readonly wrong: Environment } | undefined
      const nats = await startNatsServer((folder) => {
        const { config, ...prepared } = prepare(folder)
        settings = prepared
        return config
      })
      try {
        const accepted = await connectToNats({ NATS_URL: nats.url, ...settings?.right }, () => true)
        assert.isTrue(accepted.value)
        assert.include(accepted.metrics, "nats_connected 1")
        assert.deepStrictEqual(accepted.logs, [])
        const refused = await connectToNats({ NATS_URL: nats.url, ...settings?.wrong }, () => true)
        assert.isUndefined(refused.value)
        assert.include(refused.metrics, "nats_connected 0")
        assert.isNotEmpty(refused.logs.filter((line) => line.includes("NATS is not available")))
        assert.notInclude(refused.logs.join("\n"), "wrong-token")
      } finally {
        await nats.remove()
      }
    })
})

describe("Settings of NATS", () => {
  const errorsOf = async (environment: Environment) => (await settingsErrors(environment)).errors

  it("allow one way to authenticate, the same for all servers", async () => {
    assert.deepStrictEqual(await errorsOf({ NATS_TOKEN: "t", NATS_NKEY_FILE: "f" }), [
      "only one of NATS_TOKEN, NATS_NKEY_FILE can be set"
    ])
    assert.deepStrictEqual(await errorsOf({ NATS_URL: "nats://u:p@one:4222", NATS_TOKEN: "t" }), [
      "NATS_TOKEN cannot be set beside a user in NATS_URL"
    ])
    assert.deepStrictEqual(await errorsOf({ NATS_URL: "nats://u:p@one:4222, nats://two:4222" }), [
      "NATS_URL must have the same user and password in every URL"
    ])
  })

  it("require both halves of a client certificate", async () => {
    assert.deepStrictEqual(await errorsOf({ NATS_CERT_FILE: "f" }), ["NATS_KEY_FILE is required with NATS_CERT_FILE"])
    assert.deepStrictEqual(await errorsOf({ NATS_KEY_FILE: "f" }), ["NATS_CERT_FILE is required with NATS_KEY_FILE"])
  })

  it("name a URL of the list that cannot be used", async () => {
    assert.deepStrictEqual(await errorsOf({ NATS_URL: "nats://one:4222,http://two:4222" }), [
      "NATS_URL must be a URL starting with nats:// or tls://"
    ])
    assert.lengthOf(await errorsOf({ NATS_URL: "," }), 1)
  })
})
