/** Settings without which a production process would use a development key. */
const missingInProduction = (settings: NodeJS.ProcessEnv) =>
  settings["NODE_ENV"] !== "production"
    ? []
    : [
        settings["AUTH_ISSUER"] === undefined && settings["AUTH_JWKS_URL"] === undefined
          ? "AUTH_ISSUER or AUTH_JWKS_URL is required in production, which rejects the development key"
          : "",
        settings["AUTH_AUDIENCE"] === undefined ? "AUTH_AUDIENCE is required in production" : "",
        settings["SECRETS_KEY"] === undefined ? "SECRETS_KEY is required in production" : ""
      ].filter((message) => message !== "")

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Over https or loopback nobody on the network can replace the issuer's keys. */
export const isSecureUrl = (address: string) => {
  const { hostname, protocol } = new URL(address)
  return protocol === "https:" || loopback.test(hostname)
}

const isPlainHttp = (address: string) => URL.canParse(address) && new URL(address).protocol === "http:"

const insecureInProduction = (settings: NodeJS.ProcessEnv) =>
  settings["NODE_ENV"] !== "production"
    ? []
    : ["AUTH_ISSUER", "AUTH_JWKS_URL"].flatMap((name) => {
        const address = settings[name]
        return address !== undefined && isPlainHttp(address) && !isSecureUrl(address)
          ? [`${name} must start with https:// in production, unless it is on this machine`]
          : []
      })

/** Without AUTH_JWKS_URL, the issuer must be a URL: its discovery document names the keys. */
const unreachableIssuer = ({ AUTH_ISSUER, AUTH_JWKS_URL }: NodeJS.ProcessEnv) =>
  AUTH_ISSUER === undefined ||
  AUTH_JWKS_URL !== undefined ||
  (URL.canParse(AUTH_ISSUER) && /^https?:$/.test(new URL(AUTH_ISSUER).protocol))
    ? []
    : ["AUTH_ISSUER must be a URL starting with http:// or https://, unless AUTH_JWKS_URL is set"]

/** The console finds its identity provider by the discovery document of the issuer. */
const incompleteConsole = ({ AUTH_ISSUER, CONSOLE_OIDC_CLIENT_ID }: NodeJS.ProcessEnv) =>
  CONSOLE_OIDC_CLIENT_ID === undefined || (AUTH_ISSUER !== undefined && URL.canParse(AUTH_ISSUER))
    ? []
    : ["AUTH_ISSUER must be a URL with CONSOLE_OIDC_CLIENT_ID, which signs people in there"]

/** Settings of the blob store require a bucket, and the access key requires its secret. */
const incompleteBlobStore = (settings: NodeJS.ProcessEnv) => {
  const [id, secret] = [settings["BLOB_STORE_ACCESS_KEY_ID"], settings["BLOB_STORE_SECRET_ACCESS_KEY"]]
  const blobSettings = Object.keys(settings).filter((name) => name.startsWith("BLOB_STORE_"))
  return [
    id !== undefined && secret === undefined
      ? "BLOB_STORE_SECRET_ACCESS_KEY is required with BLOB_STORE_ACCESS_KEY_ID"
      : "",
    id === undefined && secret !== undefined
      ? "BLOB_STORE_ACCESS_KEY_ID is required with BLOB_STORE_SECRET_ACCESS_KEY"
      : "",
    settings["BLOB_STORE_BUCKET"] === undefined && blobSettings.length > 0
      ? `BLOB_STORE_BUCKET is required with ${blobSettings.join(", ")}`
      : ""
  ].filter((message) => message !== "")
}

const natsCredentials = ["NATS_TOKEN", "NATS_CREDENTIALS_FILE", "NATS_NKEY_FILE"] as const

const userInfoOf = (address: string) => (URL.canParse(address) ? address.slice(0, address.lastIndexOf("@") + 1) : "")

/** One identity for all servers of a cluster, and both halves of a client certificate. */
const ambiguousNats = (settings: NodeJS.ProcessEnv) => {
  const given: ReadonlyArray<string> = natsCredentials.filter((name) => settings[name] !== undefined)
  const users = new Set(
    (settings["NATS_URL"] ?? "").split(",").map((address) => userInfoOf(address.trim()).replace(/^\w+:\/\//, ""))
  )
  const [cert, key] = [settings["NATS_CERT_FILE"], settings["NATS_KEY_FILE"]]
  return [
    given.length > 1 ? `only one of ${given.join(", ")} can be set` : "",
    users.size > 1 ? "NATS_URL must have the same user and password in every URL" : "",
    given.length > 0 && !users.has("") ? `${given.join(", ")} cannot be set beside a user in NATS_URL` : "",
    cert !== undefined && key === undefined ? "NATS_KEY_FILE is required with NATS_CERT_FILE" : "",
    cert === undefined && key !== undefined ? "NATS_CERT_FILE is required with NATS_KEY_FILE" : ""
  ].filter((message) => message !== "")
}

/** The mail server of the operator needs a sender. */
const incompleteMailServer = ({ SMTP_FROM, SMTP_URL }: NodeJS.ProcessEnv) =>
  (SMTP_FROM === undefined) === (SMTP_URL === undefined)
    ? []
    : [SMTP_FROM === undefined ? "SMTP_FROM is required with SMTP_URL" : "SMTP_URL is required with SMTP_FROM"]

/** What is wrong with settings that are valid one by one. */
export const findConflicts = (given: NodeJS.ProcessEnv): ReadonlyArray<string> => [
  ...missingInProduction(given),
  ...insecureInProduction(given),
  ...unreachableIssuer(given),
  ...incompleteConsole(given),
  ...incompleteBlobStore(given),
  ...ambiguousNats(given),
  ...incompleteMailServer(given)
]
