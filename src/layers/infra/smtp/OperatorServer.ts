import { Effect, Redacted } from "effect"
import type { Sender } from "../../../domain/mails/Sender.ts"
import { Settings } from "../config/Settings.ts"
import type { SmtpServer } from "./SmtpClient.ts"

interface OperatorServer {
  readonly server: SmtpServer
  readonly sender: Sender
}

const defaultPorts: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 }

const parseServer = (address: string): SmtpServer => {
  const { hostname, password, port, protocol, username } = new URL(address)
  const credentials = {
    user: decodeURIComponent(username),
    password: Redacted.make(decodeURIComponent(password))
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (defaultPorts[protocol] ?? 0) : Number(port),
    security: protocol === "smtps:" ? "TLS" : "STARTTLS",
    ...(username === "" ? {} : { credentials }),
    isTrusted: true
  }
}

/** The mail server of SMTP_URL, for tenants that bring none. Without it, the names of the missing settings. */
export const operatorServer = Effect.map(
  Settings,
  ({
    SMTP_FROM,
    SMTP_URL
  }): { readonly found: OperatorServer | undefined; readonly missing: ReadonlyArray<string> } => {
    const missing = [...(SMTP_URL === undefined ? ["SMTP_URL"] : []), ...(SMTP_FROM === undefined ? ["SMTP_FROM"] : [])]
    return SMTP_URL === undefined || SMTP_FROM === undefined
      ? { found: undefined, missing }
      : { found: { server: parseServer(Redacted.value(SMTP_URL)), sender: SMTP_FROM }, missing }
  }
)
