import { Array as Arr, Context, Data, Effect, Layer, ParseResult, Schema } from "effect"
import { Sender } from "../../../domain/mails/Sender.ts"
import { describeQuota, type QuotaName, quotaNames, quotas } from "../../../domain/quotas/Quotas.ts"
import { parseRange } from "./AddressRange.ts"
import { splitDatabaseUrl } from "./DatabaseUrl.ts"
import { findConflicts } from "./SettingConflicts.ts"

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

export const splitList = (line: string) =>
  line
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

const list = Schema.transform(Schema.String, Schema.Array(Schema.NonEmptyString), {
  strict: true,
  decode: splitList,
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

const databaseUrl = Schema.NonEmptyString.pipe(
  Schema.filter(
    (value) =>
      splitDatabaseUrl(value).every(
        (one) => URL.canParse(one) && ["postgres:", "postgresql:"].includes(new URL(one).protocol)
      ),
    { message: () => "must be a URL starting with postgres:// or postgresql://" }
  )
)

const urls = (...protocols: ReadonlyArray<string>) =>
  Schema.compose(list, Schema.NonEmptyArray(url(...protocols))).annotations({
    message: () => ({ message: `must be a URL, or several with commas between them`, override: false })
  })

const optionalUrl = (description: string, ...protocols: ReadonlyArray<string>) =>
  Schema.optionalWith(described(url(...protocols), description), { exact: true })

const range = Schema.NonEmptyString.pipe(
  Schema.filter((value) => parseRange(value) !== undefined, {
    message: ({ actual }) => `must be address ranges such as 10.0.0.0/8 or fd00::/8, which ${actual} is not`
  })
)

const urlOr = (fallback: string, description: string) => withDefault(url("http:", "https:"), fallback, description)

const isKey = (text: string) => Buffer.from(text, "base64").length === 32

const keys = Schema.Redacted(
  Schema.String.pipe(
    Schema.filter((value) => splitList(value).length > 0 && splitList(value).every(isKey), {
      message: () => "must be 32 bytes in base64 (openssl rand -base64 32), or several such keys, comma separated"
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

/** Signature algorithms for bearer tokens. Symmetric ones are never accepted. */
const asymmetricAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA"
] as const

const quotaSetting = (name: QuotaName) => {
  const { default: fallback, highest } = quotas[name]
  return withDefault(natural(1, highest), fallback, describeQuota(name))
}

type QuotaSettings = {
  readonly [Name in QuotaName as (typeof quotas)[Name]["setting"]]: ReturnType<typeof quotaSetting>
}

const quotaSettings = Object.fromEntries(
  quotaNames.map((name) => [quotas[name].setting, quotaSetting(name)])
) as QuotaSettings // Object.fromEntries loses the keys' types; the mapped type restores them

/** Every setting. Validation, `--help`, docs/settings.md and .env.example use these names, defaults and descriptions. */
export const settings = {
  NODE_ENV: withDefault(
    oneOf("development", "test", "production"),
    "development",
    "production disables every development default, such as the development key"
  ),
  HOST: withDefault(Schema.NonEmptyString, "127.0.0.1", "address the api listens on"),
  PORT: withDefault(natural(0, 65535), 3000, "port the api listens on"),
  METRICS_PORT: Schema.optionalWith(
    described(
      natural(0, 65535),
      "separate port for /metrics, which PORT then does not serve, and for the health probes of the api; without it workers serve no metrics, nor does the api in production"
    ),
    { exact: true }
  ),
  SHUTDOWN_DELAY_SECONDS: Schema.optionalWith(
    described(
      natural(0, 300),
      "seconds the api keeps serving after SIGTERM while /readyz answers 503, so that load balancers drain it; default 5 in production, 0 elsewhere"
    ),
    { exact: true }
  ),
  DATA_DIR: withDefault(
    Schema.NonEmptyString,
    ".data",
    "folder of the embedded database, the local broker, logs and development keys"
  ),
  DATABASE_URL: Schema.optionalWith(
    described(
      Schema.Redacted(databaseUrl),
      "PostgreSQL to use instead of the embedded one, or PgBouncer; of several hosts with commas between them, the one that accepts writes"
    ),
    { exact: true }
  ),
  DATABASE_DIRECT_URL: Schema.optionalWith(
    described(
      Schema.Redacted(databaseUrl),
      "PostgreSQL itself, for migrations, if DATABASE_URL is PgBouncer in transaction mode"
    ),
    { exact: true }
  ),
  DATABASE_STATEMENTS: withDefault(
    oneOf("named", "unnamed"),
    "named",
    "unnamed for PgBouncer older than 1.21 in transaction mode; slower, because PostgreSQL plans every statement again"
  ),
  DATABASE_POOL: withDefault(
    natural(1, 1000),
    10,
    "PostgreSQL connections per process, and concurrent writes of the api; the api opens 4 more"
  ),
  MAX_QUEUED_REQUESTS: withDefault(
    natural(1, 100_000),
    128,
    "maximum number of requests that an api process keeps waiting for longer than a second; it answers 503 to more"
  ),
  MAX_QUEUED_REQUESTS_PER_CALLER: withDefault(
    natural(1, 100_000),
    64,
    "the same per caller and per tenant; the api answers 429 to more"
  ),
  MAX_CONNECTIONS: withDefault(
    natural(1, 1_000_000),
    4096,
    "maximum number of HTTP connections to an api process; it answers 503 to more, and closes them"
  ),
  MAX_CONNECTIONS_PER_ADDRESS: withDefault(
    natural(1, 1_000_000),
    1024,
    "the same per client address, or of requests per address that come through TRUSTED_PROXIES; the api answers 429 to more"
  ),
  RATE_LIMIT_PER_CALLER: Schema.optionalWith(
    described(
      natural(1, 1_000_000),
      "maximum number of requests per minute of one caller to one api process; no rate limit unless set"
    ),
    { exact: true }
  ),
  RATE_LIMIT_PER_TENANT: Schema.optionalWith(
    described(
      natural(1, 1_000_000),
      "maximum number of requests per minute of one tenant to one api process; no rate limit unless set"
    ),
    { exact: true }
  ),
  BLOB_STORE_BUCKET: text("S3-compatible bucket for images and PDFs; without it they are stored in PostgreSQL"),
  BLOB_STORE_ENDPOINT: optionalUrl("endpoint of the S3-compatible store; default is Amazon S3", "http:", "https:"),
  BLOB_STORE_REGION: withDefault(Schema.NonEmptyString, "us-east-1", "region of the bucket"),
  BLOB_STORE_PREFIX: Schema.optionalWith(
    described(prefix, "prefix of all object names, for a bucket shared with other services"),
    { exact: true }
  ),
  BLOB_STORE_ACCESS_KEY_ID: text("access key of the store; without it the role of the machine is used"),
  BLOB_STORE_SECRET_ACCESS_KEY: secret("secret of the access key"),
  NATS_URL: Schema.optionalWith(
    described(
      urls("nats:", "tls:"),
      "NATS server to use instead of a local one, or the servers of a cluster, comma separated; tls:// requires encryption"
    ),
    { exact: true }
  ),
  NATS_TOKEN: secret("token that authenticates to NATS; a user and a password are part of NATS_URL instead"),
  NATS_CREDENTIALS_FILE: text("credentials file (.creds) of a NATS user, read again on every connect"),
  NATS_NKEY_FILE: text("file with the nkey seed of a NATS user, read again on every connect"),
  NATS_CA_FILE: text(
    "PEM file of the certificate authority of the NATS servers, if it is not a public one; requires encryption"
  ),
  NATS_CERT_FILE: text("PEM file of the client certificate for NATS servers that require one; requires encryption"),
  NATS_KEY_FILE: text("PEM file of the private key of NATS_CERT_FILE"),
  NATS_NAMESPACE: withDefault(
    word,
    "contracting",
    "prefix of all streams and subjects, for a NATS server shared with other services"
  ),
  NATS_REPLICAS: withDefault(natural(1, 5), 1, "number of replicas of every stream in a NATS cluster"),
  NATS_STREAM_MAX_BYTES: withDefault(
    natural(1024 ** 2, 2 ** 50),
    1024 ** 3,
    "maximum size of each of the three streams, which the NATS server reserves on its disk"
  ),
  NATS_SERVER_BIN: text("path of the nats-server program for the local broker, if it is not in PATH"),
  AUTH_ISSUER: text("issuer of access tokens; its discovery document provides the keys unless AUTH_JWKS_URL is set"),
  AUTH_AUDIENCE: text("required audience of access tokens"),
  AUTH_JWKS_URL: optionalUrl("JWKS endpoint with the issuer's public keys", "http:", "https:"),
  AUTH_ALGORITHMS: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(oneOf(...asymmetricAlgorithms))),
      "accepted signature algorithms, comma separated"
    ),
    {
      exact: true,
      default: (): ReadonlyArray<(typeof asymmetricAlgorithms)[number]> => ["RS256", "PS256", "ES256", "EdDSA"]
    }
  ),
  CONSOLE: withDefault(oneOf("on", "off"), "on", "off serves no console at /console"),
  CONSOLE_OIDC_CLIENT_ID: text(
    "client ID with which people sign in to the console at AUTH_ISSUER, a public client with PKCE; the token endpoint must be at the origin of the issuer"
  ),
  SECRETS_KEY: Schema.optionalWith(
    described(
      keys,
      "key that encrypts secrets at rest, 32 bytes in base64; older keys that still decrypt may follow, comma separated"
    ),
    { exact: true }
  ),
  CORS_ORIGINS: Schema.optionalWith(
    described(Schema.compose(list, Schema.Array(origin)), "browser origins that may call the api, comma separated"),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  TRUSTED_PROXIES: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(range)),
      "address ranges of the proxies whose X-Forwarded-For header is trusted, comma separated"
    ),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  DELIVERY_ALLOW: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(range)),
      "non-public address ranges that webhooks and mails may be sent to, also over plain http and to any port, comma separated"
    ),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  PUBLIC_URL: optionalUrl(
    "public base URL of the api; required for JIRA, GOOGLE_DRIVE and links to the pages of invoices",
    "http:",
    "https:"
  ),
  OAUTH_TRUSTED_ORIGINS: Schema.optionalWith(
    described(
      Schema.compose(list, Schema.Array(origin)),
      "browser origins that may start an OAuth authorization, comma separated; the console at PUBLIC_URL always may"
    ),
    { exact: true, default: (): ReadonlyArray<string> => [] }
  ),
  JIRA_CLIENT_ID: text("client ID of the Jira OAuth app; without it JIRA integrations are disabled"),
  JIRA_CLIENT_SECRET: secret("client secret of the Jira OAuth app, which also signs Jira's webhooks"),
  JIRA_AUTHORIZE_URL: urlOr("https://auth.atlassian.com/authorize", "Jira authorization endpoint"),
  JIRA_TOKEN_URL: urlOr("https://auth.atlassian.com/oauth/token", "Jira token endpoint"),
  JIRA_API_URL: urlOr("https://api.atlassian.com", "base URL of the Jira API"),
  GOOGLE_CLIENT_ID: text("client ID of the Google OAuth app; without it GOOGLE_DRIVE integrations are disabled"),
  GOOGLE_CLIENT_SECRET: secret("client secret of the Google OAuth app"),
  GOOGLE_AUTHORIZE_URL: urlOr("https://accounts.google.com/o/oauth2/v2/auth", "Google authorization endpoint"),
  GOOGLE_TOKEN_URL: urlOr("https://oauth2.googleapis.com/token", "Google token endpoint"),
  GOOGLE_REVOKE_URL: urlOr("https://oauth2.googleapis.com/revoke", "Google token revocation endpoint"),
  GOOGLE_API_URL: urlOr("https://www.googleapis.com", "base URL of the Google APIs"),
  SMTP_URL: Schema.optionalWith(
    described(
      Schema.Redacted(url("smtp:", "smtps:")),
      "mail server for tenants that bring none, with user and password: smtps:// for TLS, smtp:// for STARTTLS"
    ),
    { exact: true }
  ),
  SMTP_FROM: Schema.optionalWith(
    described(
      Sender,
      "address that mails through SMTP_URL come from, also with a name before it and angle brackets around it"
    ),
    { exact: true }
  ),
  TENANT_RETENTION_DAYS: withDefault(natural(0, 3650), 30, "days a deleted tenant's data is kept before it is erased"),
  EVENT_RETENTION_DAYS: withDefault(
    natural(0, 3650),
    30,
    "days events, deliveries and inbound webhooks are kept; pending ones are kept longer"
  ),
  PAYLOAD_RETENTION_DAYS: withDefault(
    natural(0, 3650),
    7,
    "days response bodies of receivers, bodies of inbound webhooks and their errors are kept"
  ),
  ...quotaSettings,
  LOG_LEVEL: withDefault(oneOf("debug", "info", "warning", "error"), "info", "minimum level of log lines"),
  LOG_FORMAT: Schema.optionalWith(
    described(
      oneOf("json", "pretty"),
      "format of log lines; default is pretty in a terminal outside of production, json elsewhere"
    ),
    { exact: true }
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    "OTLP endpoint for traces and logs; without it tracing is disabled",
    "http:",
    "https:"
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret("headers for the OTLP endpoint as name=value pairs, comma separated")
}

const Environment = Schema.Struct(settings)
export type SettingsShape = typeof Environment.Type

/** The defaults of all settings. */
export const defaultSettings: Readonly<Record<string, unknown>> = Schema.decodeUnknownSync(Environment)({})

export class Settings extends Context.Tag("layers/Settings")<Settings, SettingsShape>() {}

/** Lists every invalid or missing setting, so that an operator can fix all of them at once. */
export class SettingsError extends Data.TaggedError("SettingsError")<{ readonly errors: ReadonlyArray<string> }> {
  override get message() {
    return ["The settings cannot be used:", ...this.errors.map((line) => `  - ${line}`)].join("\n")
  }
}

const decode = Schema.decodeUnknown(Environment, { errors: "all" })

const pickSettings = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.keys(settings).flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

const describeErrors = (error: ParseResult.ParseError) =>
  Arr.dedupe(
    ParseResult.ArrayFormatter.formatErrorSync(error).map(
      ({ message, path }) => `${path.slice(0, 1).join("")} ${message}`
    )
  )

export const readSettings = (environment: NodeJS.ProcessEnv): Effect.Effect<SettingsShape, SettingsError> => {
  const given = pickSettings(environment)
  const errors = findConflicts(given)
  return decode(given).pipe(
    Effect.mapError((error) => new SettingsError({ errors: [...describeErrors(error), ...errors] })),
    Effect.filterOrFail(
      () => errors.length === 0,
      () => new SettingsError({ errors })
    )
  )
}

export const SettingsLive = Layer.effect(
  Settings,
  Effect.suspend(() => readSettings(process.env))
)
