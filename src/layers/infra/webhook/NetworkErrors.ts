import { errors } from "undici"
import { UrlRejected } from "./SsrfGuard.ts"

type MessageFormatter = (host: string) => string

const unreachable: MessageFormatter = (host) => `${host} cannot be reached`
const closed: MessageFormatter = (host) => `${host} closed the connection before it answered`
const untrusted: MessageFormatter = (host) => `The certificate of ${host} is not trusted: use one of a known authority`
const notHttp: MessageFormatter = (host) => `${host} did not answer with HTTP`

const byCode: Readonly<Record<string, MessageFormatter>> = {
  ECONNREFUSED: (host) => `${host} refuses connections`,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: unreachable,
  UND_ERR_CONNECT_TIMEOUT: (host) => `${host} did not accept the connection in time`,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_HEADERS_OVERFLOW: (host) => `${host} answered with too many headers`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: notHttp,
  CERT_HAS_EXPIRED: (host) => `The certificate of ${host} has expired`,
  CERT_NOT_YET_VALID: (host) => `The certificate of ${host} is not valid yet`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `The certificate of ${host} is for another host`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted
}

const byCodePrefix: ReadonlyArray<readonly [string, MessageFormatter]> = [
  ["HPE_", notHttp],
  ["ERR_SSL_", (host) => `${host} failed the TLS handshake`],
  ["EPROTO", (host) => `${host} failed the TLS handshake`]
]

const codeOf = (cause: unknown) => {
  if (cause instanceof errors.HTTPParserError) return "HPE_"
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""
}

/** Describes a network error for the operator of the receiver. */
export const describeNetworkError = (cause: unknown, host: string) => {
  if (cause instanceof UrlRejected) return cause.message
  if (cause instanceof Error && cause.name === "TimeoutError") return `${host} did not answer in time`
  const code = codeOf(cause)
  const format = byCode[code] ?? byCodePrefix.find(([prefix]) => code.startsWith(prefix))?.[1]
  return format?.(host) ?? `The request to ${host} failed`
}

/** Describes a status other than 2xx. Returns undefined for success. */
export const describeStatusError = (status: number, host: string) => {
  if (status >= 200 && status < 300) return undefined
  return status >= 300 && status < 400
    ? `${host} answered ${status}, and redirects are not followed: register the URL they lead to`
    : `${host} answered ${status}`
}
