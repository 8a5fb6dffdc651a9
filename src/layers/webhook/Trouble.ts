import { errors } from "undici"
import { Refused } from "./Rules.ts"

type Sentence = (host: string) => string

const away: Sentence = (host) => `${host} cannot be reached`
const closed: Sentence = (host) => `${host} closed the connection before it had answered`
const untrusted: Sentence = (host) => `The certificate of ${host} is not trusted: have it issued by a known authority`
const notHttp: Sentence = (host) => `${host} answered something that is not HTTP`

const sentences: Readonly<Record<string, Sentence>> = {
  ECONNREFUSED: (host) => `${host} refuses connections`,
  EHOSTUNREACH: away,
  ENETUNREACH: away,
  EADDRNOTAVAIL: away,
  ETIMEDOUT: away,
  UND_ERR_CONNECT_TIMEOUT: (host) => `${host} did not take the connection in time`,
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

const byBeginning: ReadonlyArray<readonly [string, Sentence]> = [
  ["HPE_", notHttp],
  ["ERR_SSL_", (host) => `${host} does not speak TLS as it should`],
  ["EPROTO", (host) => `${host} does not speak TLS as it should`]
]

const codeOf = (cause: unknown) => {
  if (cause instanceof errors.HTTPParserError) return "HPE_"
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""
}

/** What went wrong, for whoever runs the receiver. */
export const troubleOf = (cause: unknown, host: string) => {
  if (cause instanceof Refused) return cause.message
  const code = codeOf(cause)
  const sentence = sentences[code] ?? byBeginning.find(([beginning]) => code.startsWith(beginning))?.[1]
  return sentence?.(host) ?? `The request to ${host} failed`
}

/** What is wrong with an answer that came whole. */
export const faultOfStatus = (status: number, host: string) => {
  if (status >= 200 && status < 300) return undefined
  return status >= 300 && status < 400
    ? `${host} answered ${status}, and redirects are not followed: register the URL they lead to`
    : `${host} answered ${status}`
}
