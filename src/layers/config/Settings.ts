import { Array as Arr, Context, Data, Effect, Layer, ParseResult, Schema } from "effect"
import { describeQuota, type QuotaName, quotaNames, quotas } from "../../domain/Quotas.ts"
import { readRange } from "./AddressRange.ts"

const described = <A, I>(schema: Schema.Schema<A, I>, description: string) => schema.annotations({ description })

const text = (description: string) =>
  Schema.optionalWith(described(Schema.NonEmptyString, description), { exact: true })

const secret = (description: string) =>
  Schema.optionalWith(described(Schema.Redacted(Schema.NonEmptyString), description), { exact: true })

const withDefault = <A, I>(schema: Schema.Schema<A, I>, fallback: NoInfer<A>, description: string) =>
  Schema.optionalWith(described(schema, description), { exact: true, default: () => fallback })

const natural = (min: number, max: number) =>
  Schema.NumberFromString.annotations({ message: () => "must be a whole number" }).pipe(
    Schema.int({ message: () => "must be a whole number" }),
    Schema.between(min, max, { message: () => `must be between ${min} and ${max}` })
  )

const oneOf = <const L extends ReadonlyArray<string>>(...literals: L) =>
  Schema.Literal(...literals).annotations({ message: () => `must be one of ${literals.join(", ")}` })

const list = Schema.transform(Schema.String, Schema.Array(Schema.NonEmptyString), {
  strict: true,
  decode: (line) =>
    line
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  encode: (items) => items.join(",")
})

const origin = Schema.NonEmptyString.pipe(
  Schema.filter((value) => URL.canParse(value) && new URL(value).origin === value, {
    message: () => "must be origins such as https://app.example.com, without a path"
  })
)

const url = (...protocols: ReadonlyArray<string>) =>
  Schema.NonEmptyString.pipe(
    Schema.filter((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      message: () => `must be a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`
    })
  )

const optionalUrl = (description: string, ...protocols: ReadonlyArray<string>) =>
  Schema.optionalWith(described(url(...protocols), description), { exact: true })

const range = Schema.NonEmptyString.pipe(
  Schema.filter((value) => readRange(value) !== undefined, {
    message: ({ actual }) => `must be address ranges such as 10.0.0.0/8 or fd00::/8, which ${actual} is not`
  })
)

const urlOr = (fallback: string, description: string) => withDefault(url("http:", "https:"), fallback, description)

const key = Schema.Redacted(
  Schema.String.pipe(
    Schema.filter((value) => Buffer.from(value, "base64").length === 32, {
      message: () => "must be 32 bytes in base64 (openssl rand -base64 32)"
    })
  )
)

const prefix = Schema.NonEmptyString.pipe(
  Schema.filter((value) => /^\w[\w.-]*(\/\w[\w.-]*)*$/.test(value), {
    message: () => "must be words of letters, digits, '.', '_' and '-' with '/' between them"
  })
)

const word = Schema.NonEmptyString.pipe(
  Schema.filter((value) => /^[\w-]+$/.test(value), { message: () => "must be letters, digits, '_' and '-'" })
)

/** Algorithms a bearer token may be signed with. Symmetric ones are never among them. */
const asymmetric = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const

const quotaSetting = (name: QuotaName) => {
  const { default: fallback, highest } = quotas[name]
  return withDefault(natural(1, highest), fallback, describeQuota(name))
}

type QuotaSettings = {
  readonly [Name in QuotaName as (typeof quotas)[Name]["setting"]]: ReturnType<typeof quotaSetting>
}

const quotaSettings = Object.fromEntries(
  quotaNames.map((name) => [quotas[name].setting, quotaSetting(name)])
) as QuotaSettings // Object.fromEntries forgets which setting is which; the mapped type restates it

/** Every setting, once: names, defaults and explanations here feed validation, `--help` and the README's table. */
export const settings = {
  NODE_ENV: withDefault(
    oneOf("development", "test", "production"),
    "development",
    "production turns every convenience for development off"
  ),
  HOST: withDefault(Schema.NonEmptyString, "127.0.0.1", "address the api listens on"),
  PORT: withDefault(natural(0, 65535), 3000, "port the api listens on"),
  METRICS_PORT: Schema.optionalWith(
    described(
      natural(0, 65535),
      "serve /metrics on this port alone, and the probes of the api too; without it neither workers nor an api in production serve metrics"
    ),
    { exact: true }
  ),
  SHUTDOWN_DELAY_SECONDS: Schema.optionalWith(
    described(
      natural(0, 300),
      "seconds the api goes on after SIGTERM while /readyz says 503, so that balancers notice; 5 in production and 0 elsewhere unless set"
    ),
    { exact: true }
  ),
  DATA_DIR: withDefault(
    Schema.NonEmptyString,
    ".data",
    "folder of the embedded database, the local broker, logs and development keys"
  ),
  DATABASE_URL: Schema.optionalWith(
    described(Schema.Redacted(url("postgres:", "postgresql:")), "PostgreSQL to use instead of the embedded one"),
    { exact: true }
  ),
  DATABASE_POOL: withDefault(
    natural(1, 1000),
    10,
    "connections to PostgreSQL per process, and writes the api works on at a time; the api takes 4 more"
  ),
  MAX_QUEUED_REQUESTS: withDefault(
    natural(1, 100_000),
    128,
    "requests that wait at a time in an api process; beyond them the api answers 503"
  ),
  MAX_QUEUED_REQUESTS_PER_CALLER: withDefault(
    natural(1, 100_000),
    64,
    "requests of one caller, and of one tenant, that wait at a time; beyond them the api answers 429"
  ),
  RATE_LIMIT_PER_CALLER: Schema.optionalWith(
    described(
      natural(1, 1_000_000),
      "requests a minute one caller may make to an api process; no fixed limit unless set"
    ),
    { exact: true }
  ),
  RATE_LIMIT_PER_TENANT: Schema.optionalWith(
    described(
      natural(1, 1_000_000),
      "requests a minute one tenant may have at an api process; no fixed limit unless set"
    ),
    { exact: true }
  ),
  BLOB_STORE_BUCKET: text(
    "bucket of an S3-compatible store for the bytes of images and PDFs; without it they lie in PostgreSQL"
  ),
  BLOB_STORE_ENDPOINT: optionalUrl("where the store is, unless it is Amazon's own", "http:", "https:"),
  BLOB_STORE_REGION: withDefault(Schema.NonEmptyString, "us-east-1", "region of the bucket"),
  BLOB_STORE_PREFIX: Schema.optionalWith(
    described(prefix, "what the names of all objects begin with, when the bucket is not for this service alone"),
    { exact: true }
  ),
  BLOB_STORE_ACCESS_KEY_ID: text("access key for the store; without one the machine's own role is used"),
  BLOB_STORE_SECRET_ACCESS_KEY: secret("secret that belongs to the access key"),
  NATS_URL: optionalUrl("NATS server to use instead of a local one; tls:// requires encryption", "nats:", "tls:"),
  NATS_CA_FILE: text(
    "certificates in PEM that sign the certificate of NATS, unless a public authority does; requires encryption too"
  ),
  NATS_NAMESPACE: withDefault(
    word,
    "contracting",
    "what the names of all streams and subjects begin with, when the broker is not for this service alone"
  ),
  NATS_REPLICAS: withDefault(natural(1, 5), 1, "copies the brokers of a cluster keep of every stream"),
  NATS_SERVER_BIN: text("nats-server program for the local broker, when it is not on the path"),
  AUTH_ISSUER: text("issuer of access tokens; its discovery document names the keys unless AUTH_JWKS_URL does"),
  AUTH_AUDIENCE: text("audience access tokens must be meant for"),
  AUTH_JWKS_URL: optionalUrl("where the issuer's public keys are", "http:", "https:"),
  AUTH_ALGORITHMS: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(oneOf(...asymmetric))),
      "signature algorithms accepted, comma separated"
    ),
    { exact: true, default: (): ReadonlyArray<(typeof asymmetric)[number]> => ["RS256", "PS256", "ES256", "EdDSA"] }
  ),
  SECRETS_KEY: Schema.optionalWith(described(key, "32 bytes in base64 that encrypt secrets at rest"), { exact: true }),
  CORS_ORIGINS: Schema.optionalWith(
    described(Schema.compose(list, Schema.Array(origin)), "browser origins that may call the api, comma separated"),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  TRUSTED_PROXIES: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(range)),
      "address ranges of proxies before the api, whose X-Forwarded-For names the caller's address, comma separated"
    ),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  DELIVERY_ALLOW: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(range)),
      "address ranges that webhooks may reach though they are not public, by plain http and on any port too, comma separated"
    ),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  PUBLIC_URL: optionalUrl("where the world reaches the api; needed for JIRA and GOOGLE_DRIVE", "http:", "https:"),
  OAUTH_TRUSTED_ORIGINS: Schema.optionalWith(
    described(Schema.compose(list, Schema.Array(origin)), "browser origins that may begin an authorization"),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  JIRA_CLIENT_ID: text("client of the tracker's OAuth app; without it there are no JIRA integrations"),
  JIRA_CLIENT_SECRET: secret("secret that belongs to it, which also signs the tracker's webhooks"),
  JIRA_AUTHORIZE_URL: urlOr("https://auth.atlassian.com/authorize", "where people authorize us with the tracker"),
  JIRA_TOKEN_URL: urlOr("https://auth.atlassian.com/oauth/token", "where the tracker's tokens are to be had"),
  JIRA_API_URL: urlOr("https://api.atlassian.com", "the tracker's API"),
  GOOGLE_CLIENT_ID: text("client of the drive's OAuth app; without it there are no GOOGLE_DRIVE integrations"),
  GOOGLE_CLIENT_SECRET: secret("secret that belongs to it"),
  GOOGLE_AUTHORIZE_URL: urlOr(
    "https://accounts.google.com/o/oauth2/v2/auth",
    "where people authorize us with the drive"
  ),
  GOOGLE_TOKEN_URL: urlOr("https://oauth2.googleapis.com/token", "where the drive's tokens are to be had"),
  GOOGLE_REVOKE_URL: urlOr("https://oauth2.googleapis.com/revoke", "where the drive's tokens are given back"),
  GOOGLE_API_URL: urlOr("https://www.googleapis.com", "the drive's API"),
  TENANT_RETENTION_DAYS: withDefault(natural(0, 3650), 30, "days a deleted tenant's data is kept before it is erased"),
  EVENT_RETENTION_DAYS: withDefault(
    natural(0, 3650),
    30,
    "days events, their deliveries and a tracker's webhooks are kept, unless they are still to be worked"
  ),
  PAYLOAD_RETENTION_DAYS: withDefault(
    natural(0, 3650),
    7,
    "days the answers of receivers, the bodies of a tracker's webhooks and the faults of both are kept"
  ),
  ...quotaSettings,
  LOG_LEVEL: withDefault(oneOf("debug", "info", "warning", "error"), "info", "least severe log line that is written"),
  LOG_FORMAT: Schema.optionalWith(
    described(oneOf("json", "pretty"), "json in production and files, pretty in a terminal unless set"),
    { exact: true }
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    "collector for traces and logs; without it tracing is off",
    "http:",
    "https:"
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret("headers for the collector, as name=value pairs, comma separated")
}

const Environment = Schema.Struct(settings)
export type SettingsShape = typeof Environment.Type

/** What each setting is when nothing is set. */
export const defaults: Readonly<Record<string, unknown>> = Schema.decodeUnknownSync(Environment)({})

export class Settings extends Context.Tag("layers/Settings")<Settings, SettingsShape>() {}

/** What is wrong with the environment: every fault, so that one look mends them all. */
export class SettingsError extends Data.TaggedError("SettingsError")<{ readonly faults: ReadonlyArray<string> }> {
  override get message() {
    return ["The settings cannot be used:", ...this.faults.map((fault) => `  - ${fault}`)].join("\n")
  }
}

const decode = Schema.decodeUnknown(Environment, { errors: "all" })

const known = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.keys(settings).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

const faultsOf = (error: ParseResult.ParseError) =>
  Arr.dedupe(
    ParseResult.ArrayFormatter.formatErrorSync(error).map(
      ({ message, path }) => `${path.slice(0, 1).join("")} ${message}`
    )
  )

/** What a production process must be told, since it may not make it up. */
const missingInProduction = (settings: NodeJS.ProcessEnv) =>
  settings["NODE_ENV"] !== "production"
    ? []
    : [
        settings["AUTH_ISSUER"] === undefined && settings["AUTH_JWKS_URL"] === undefined
          ? "AUTH_ISSUER or AUTH_JWKS_URL is needed in production: the development key is refused there"
          : "",
        settings["AUTH_AUDIENCE"] === undefined ? "AUTH_AUDIENCE is needed in production" : "",
        settings["SECRETS_KEY"] === undefined ? "SECRETS_KEY is needed in production" : ""
      ].filter((fault) => fault !== "")

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Nobody on the way can put keys of their own in the place of the issuer's. */
export const isPrivatelyReached = (address: string) => {
  const { hostname, protocol } = new URL(address)
  return protocol === "https:" || loopback.test(hostname)
}

const isReadable = (address: string) => URL.canParse(address) && new URL(address).protocol === "http:"

const tappedInProduction = (settings: NodeJS.ProcessEnv) =>
  settings["NODE_ENV"] !== "production"
    ? []
    : ["AUTH_ISSUER", "AUTH_JWKS_URL"].flatMap((name) => {
        const address = settings[name]
        return address !== undefined && isReadable(address) && !isPrivatelyReached(address)
          ? [`${name} must start with https:// in production, unless it is on this machine`]
          : []
      })

/** Without an address for its keys, the issuer's own name must be one where they can be asked for. */
const unreachableIssuer = ({ AUTH_ISSUER, AUTH_JWKS_URL }: NodeJS.ProcessEnv) =>
  AUTH_ISSUER === undefined ||
  AUTH_JWKS_URL !== undefined ||
  (URL.canParse(AUTH_ISSUER) && /^https?:$/.test(new URL(AUTH_ISSUER).protocol))
    ? []
    : ["AUTH_ISSUER must be a URL starting with http:// or https://, unless AUTH_JWKS_URL is set"]

/** What is told about a store outside must name one, and let us in. */
const halfAStore = (settings: NodeJS.ProcessEnv) => {
  const [id, secret] = [settings["BLOB_STORE_ACCESS_KEY_ID"], settings["BLOB_STORE_SECRET_ACCESS_KEY"]]
  const idle = Object.keys(settings).filter((name) => name.startsWith("BLOB_STORE_"))
  return [
    id !== undefined && secret === undefined
      ? "BLOB_STORE_SECRET_ACCESS_KEY is needed with BLOB_STORE_ACCESS_KEY_ID"
      : "",
    id === undefined && secret !== undefined
      ? "BLOB_STORE_ACCESS_KEY_ID is needed with BLOB_STORE_SECRET_ACCESS_KEY"
      : "",
    settings["BLOB_STORE_BUCKET"] === undefined && idle.length > 0
      ? `BLOB_STORE_BUCKET is needed with ${idle.join(", ")}`
      : ""
  ].filter((fault) => fault !== "")
}

export const readSettings = (environment: NodeJS.ProcessEnv): Effect.Effect<SettingsShape, SettingsError> => {
  const given = known(environment)
  const missing = [
    ...missingInProduction(given),
    ...tappedInProduction(given),
    ...unreachableIssuer(given),
    ...halfAStore(given)
  ]
  return decode(given).pipe(
    Effect.mapError((error) => new SettingsError({ faults: [...faultsOf(error), ...missing] })),
    Effect.filterOrFail(
      () => missing.length === 0,
      () => new SettingsError({ faults: missing })
    )
  )
}

export const SettingsLive = Layer.effect(
  Settings,
  Effect.suspend(() => readSettings(process.env))
)
