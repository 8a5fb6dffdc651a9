import { createHash } from "node:crypto"
import { Effect } from "effect"
import MailComposer from "nodemailer/lib/mail-composer"

export interface MailAttachment {
  readonly filename: string
  readonly contentType: string
  readonly content: Uint8Array
}

/** A message before it is encoded. */
export interface MailMessage {
  readonly from: { readonly name: string; readonly address: string }
  readonly replyTo?: string | undefined
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly messageId: string
  readonly date: Date
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly language: string
  readonly attachments: ReadonlyArray<MailAttachment>
}

/** The Message-ID of an event to a recipient: the same for every attempt, so that a receiver can recognize a duplicate. */
export const messageIdOf = (event: string, recipient: string, domain: string) => {
  const digest = createHash("sha256").update(`${event} ${recipient.toLowerCase()}`).digest("hex").slice(0, 32)
  return `<${event}.${digest}@${domain}>`
}

/** Encodes a message. The composer reads neither files nor URLs, whatever the fields contain. */
export const encodeMessage = ({ attachments, cc, language, replyTo, to, ...message }: MailMessage) =>
  Effect.promise(() =>
    new MailComposer({
      ...message,
      to: [...to],
      cc: [...cc],
      replyTo,
      headers: { "content-language": language, "auto-submitted": "auto-generated" },
      attachments: attachments.map(({ content, ...attachment }) => ({ ...attachment, content: Buffer.from(content) })),
      disableFileAccess: true,
      disableUrlAccess: true
    })
      .compile()
      .build()
  )
