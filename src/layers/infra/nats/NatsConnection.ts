import { readFileSync } from "node:fs"
import { checkServerIdentity, type PeerCertificate } from "node:tls"
import { Effect, Redacted } from "effect"
import { type ConnectionOptions, connect, credsAuthenticator, ErrorCode, NatsError, nkeyAuthenticator } from "nats"
import type { SettingsShape } from "../config/Settings.ts"
import type { ConnectionFailure } from "../telemetry/ConnectionMetrics.ts"
import { BrokerError } from "./BrokerError.ts"

export type NatsSettings = Pick<
  SettingsShape,
  | "NATS_URL"
  | "NATS_TOKEN"
  | "NATS_CREDENTIALS_FILE"
  | "NATS_NKEY_FILE"
  | "NATS_CA_FILE"
  | "NATS_CERT_FILE"
  | "NATS_KEY_FILE"
>

/** The NATS client ignores user, password and protocol in a URL, so we pass them as options. */
const withoutUser = (url: URL) => {
  const copy = new URL(url)
  copy.username = ""
  copy.password = ""
  return copy.href
}

const identityOf = (settings: NatsSettings, url: URL | undefined): ConnectionOptions => {
  const { NATS_CREDENTIALS_FILE: credentials, NATS_NKEY_FILE: nkey, NATS_TOKEN: token } = settings
  if (token !== undefined) return { token: Redacted.value(token) }
  if (credentials !== undefined) return { authenticator: credsAuthenticator(() => readFileSync(credentials)) }
  // A trailing newline is not part of the seed.
  if (nkey !== undefined)
    return { authenticator: nkeyAuthenticator(() => Buffer.from(readFileSync(nkey, "utf8").trim())) }
  if (url === undefined || url.username === "") return {}
  return { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
}

/**
 * The client leaves out the name of a server that is given by its IP address, and a cluster announces more servers than
 * were configured. The certificate has to belong to one of the configured hosts.
 */
const checkIdentity = (hosts: ReadonlyArray<string>) => (_: string, certificate: PeerCertificate) => {
  const errors = hosts.map((host) => checkServerIdentity(host, certificate))
  return errors.includes(undefined) ? undefined : errors[0]
}

const tlsOptionsOf = (settings: NatsSettings, urls: ReadonlyArray<URL>) => {
  const { NATS_CA_FILE: caFile, NATS_CERT_FILE: certFile, NATS_KEY_FILE: keyFile } = settings
  if (caFile === undefined && certFile === undefined && !urls.some(({ protocol }) => protocol === "tls:")) return {}
  const tls = {
    checkServerIdentity: checkIdentity(urls.map(({ hostname }) => hostname)),
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile })
  }
  return { tls }
}

const connectionOptionsOf = (settings: NatsSettings): ConnectionOptions => {
  const urls = (settings.NATS_URL ?? []).map((text) => new URL(text))
  return {
    servers: urls.map(withoutUser),
    ...identityOf(settings, urls[0]),
    ...tlsOptionsOf(settings, urls),
    name: "contracting",
    // Otherwise every publish makes an error for its stack, a fifth of the relay's time.
    noAsyncTraces: true,
    // A server that does not answer must not delay the turn of the next one.
    timeout: 3000,
    // Two unanswered pings end a connection to a server that hangs, before a cluster has elected another leader.
    pingInterval: 1500,
    maxPingOut: 2
  }
}

const open = (options: () => ConnectionOptions) =>
  Effect.tryPromise({
    try: async (signal) => {
      const opened = await connect(options())
      if (signal.aborted) await opened.close()
      return opened
    },
    catch: (cause) => new BrokerError({ cause })
  })

/** Opens a connection that reconnects for ever once it is open. */
export const openConnection = (settings: NatsSettings) =>
  open(() => ({
    ...connectionOptionsOf(settings),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    // A starting server may reject us until its users are loaded.
    ignoreAuthErrorAbort: true
  }))

/** Connects and disconnects. The client does not say why it cannot reconnect; this fails for the same reason. */
export const tryConnection = (settings: NatsSettings) =>
  Effect.flatMap(
    open(() => ({ ...connectionOptionsOf(settings), reconnect: false })),
    (opened) => Effect.promise(() => opened.close())
  )

const failureOfCode: Readonly<Record<string, ConnectionFailure>> = {
  [ErrorCode.ConnectionRefused]: "UNREACHABLE",
  [ErrorCode.Timeout]: "TIMEOUT",
  [ErrorCode.ConnectionTimeout]: "TIMEOUT",
  [ErrorCode.AuthorizationViolation]: "AUTHENTICATION",
  [ErrorCode.AuthenticationExpired]: "AUTHENTICATION",
  [ErrorCode.AuthenticationTimeout]: "AUTHENTICATION",
  [ErrorCode.AccountExpired]: "AUTHENTICATION",
  [ErrorCode.BadAuthentication]: "AUTHENTICATION",
  [ErrorCode.BadCreds]: "AUTHENTICATION",
  [ErrorCode.Tls]: "ENCRYPTION",
  [ErrorCode.ServerOptionNotAvailable]: "ENCRYPTION"
}

export const connectionFailureOf = ({ cause }: BrokerError): ConnectionFailure =>
  (cause instanceof NatsError ? failureOfCode[cause.code] : undefined) ?? "OTHER"
