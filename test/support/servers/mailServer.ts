import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

export interface ReceivedMail {
  readonly from: string
  readonly to: string
  readonly source: string
}

/** Starts a real SMTP server on the loopback interface. It keeps the mails that it accepts. */
export const startMailServer = async (options: SMTPServerOptions = {}) => {
  const mails: Array<ReceivedMail> = []
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    logger: false,
    onData: (stream, session, done) => {
      const pieces: Array<Buffer> = []
      stream.on("data", (piece: Buffer) => pieces.push(piece))
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope
        const source = Buffer.concat(pieces).toString()
        mails.push({ from: mailFrom ? mailFrom.address : "", to: rcptTo.map(({ address }) => address).join(), source })
        done(null)
      })
    },
    ...options
  })
  server.on("error", () => {})
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const { port } = server.server.address() as AddressInfo // neither a pipe nor closed
  /** Closes the connection of a session without an answer. */
  const disconnect = (session: string) => {
    for (const connection of server.connections) if (connection.id === session) connection.close()
  }
  return { port, mails, disconnect, stop: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>
