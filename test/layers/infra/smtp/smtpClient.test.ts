import type { SMTPServerOptions } from "smtp-server"
import { assert, describe, it, onTestFinished } from "vitest"
import type { SmtpStage } from "../../../../src/layers/infra/smtp/SmtpResult.ts"
import { startMailServer } from "../../../support/servers/mailServer.ts"
import { certificate } from "../webhook/certificate.ts"
import { credentials, useSmtpClient } from "./smtpSender.ts"

const useMailServer = async (options: SMTPServerOptions = {}) => {
  const server = await startMailServer({ ...certificate, ...options })
  onTestFinished(server.stop)
  return server
}

const answer = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

const acceptOnly: SMTPServerOptions["onAuth"] = ({ password, username }, _, done) =>
  username === "books" && password === "secret" ? done(null, { user: username }) : done(answer(535, "wrong password"))

describe("SmtpClient with a real server", () => {
  it.each(["TLS", "STARTTLS"] as const)("sends over %s with authentication", async (security) => {
    const { mails, port } = await useMailServer({
      secure: security === "TLS",
      authOptional: false,
      onAuth: acceptOnly
    })
    const result = await useSmtpClient().send({ port, security, credentials })
    assert.strictEqual(result.outcome, "SENT")
    assert.deepStrictEqual(
      mails.map(({ from, to }) => [from, to]),
      [["books@seller.example", "ada@client.example"]]
    )
  })

  it("connects to the address of a name and checks the certificate against the name", async () => {
    const { mails, port } = await useMailServer()
    const names = { "hooks.example.com": ["127.0.0.1"], "other.example.com": ["127.0.0.1"] }
    const client = useSmtpClient({ names })
    assert.strictEqual((await client.send({ port, host: "hooks.example.com" })).outcome, "SENT")
    assert.deepInclude(await client.send({ port, host: "other.example.com" }), {
      outcome: "RETRY",
      reason: "The certificate of other.example.com is for another host"
    })
    assert.lengthOf(mails, 1)
  })

  it.each(["TLS", "STARTTLS"] as const)(
    "sends nothing over %s to a server with an unknown certificate",
    async (security) => {
      const { mails, port } = await useMailServer({ secure: security === "TLS" })
      assert.deepInclude(await useSmtpClient({ roots: [] }).send({ port, security, credentials }), {
        outcome: "RETRY",
        reason: "The certificate of 127.0.0.1 is not trusted: use one of a known authority"
      })
      assert.lengthOf(mails, 0)
    }
  )

  it("reports REFUSED at AUTH for a wrong password", async () => {
    const { port } = await useMailServer({ onAuth: acceptOnly })
    const wrong = { ...credentials, user: "other" }
    assert.deepInclude(await useSmtpClient().send({ port, credentials: wrong }), {
      outcome: "REFUSED",
      stage: "AUTH",
      status: 535
    })
  })

  it.each<[SmtpStage, SMTPServerOptions]>([
    ["MAIL", { onMailFrom: (_, __, done) => done(answer(550, "unknown sender")) }],
    ["RCPT", { onRcptTo: (_, __, done) => done(answer(550, "unknown recipient")) }],
    [
      "DATA",
      {
        onData: (stream, _, done) => {
          stream.resume()
          stream.on("end", () => done(answer(552, "spam")))
        }
      }
    ]
  ])("reports REFUSED after a refusal at %s", async (stage, options) => {
    const { port } = await useMailServer(options)
    assert.deepInclude(await useSmtpClient().send({ port }), { outcome: "REFUSED", stage })
  })

  it("reports REFUSED for a message that is larger than the server accepts", async () => {
    const { port } = await useMailServer({ size: 100 })
    const message = `Subject: Big\r\n\r\n${"x".repeat(1000)}`
    assert.deepInclude(await useSmtpClient().send({ port, message }), { outcome: "REFUSED", stage: "MAIL" })
  })

  it("reports REFUSED for a recipient that could end the command", async () => {
    const { port } = await useMailServer()
    assert.deepInclude(await useSmtpClient().send({ port, to: "a@b.example>\r\nRSET" }), { outcome: "REFUSED" })
  })

  it("sends without TLS to this machine if the operator allows it", async () => {
    const { mails, port } = await useMailServer({ hideSTARTTLS: true })
    assert.strictEqual((await useSmtpClient().send({ port })).outcome, "SENT")
    assert.lengthOf(mails, 1)
  })

  it("sends nothing without TLS otherwise, even to a server of the operator", async () => {
    const { mails, port } = await useMailServer({ disabledCommands: ["STARTTLS"] })
    const result = await useSmtpClient({ allow: "" }).send({ port, isTrusted: true })
    assert.include(["REFUSED", "RETRY"], result.outcome)
    assert.lengthOf(mails, 0)
  })

  it("reports RETRY for a private address, and connects only if the server is the operator's", async () => {
    const { mails, port } = await useMailServer()
    const client = useSmtpClient({ allow: "" })
    assert.deepInclude(await client.send({ port }), { outcome: "RETRY", stage: "CONNECT" })
    assert.strictEqual((await client.send({ port, isTrusted: true })).outcome, "SENT")
    assert.lengthOf(mails, 1)
  })

  it("finds the error of a server that mails must not go to", async () => {
    const names = { "mail.example.com": ["203.0.113.1"], "inside.example.com": ["10.0.0.1"] }
    const client = useSmtpClient({ allow: "", names: { ...names, "public.example.com": ["8.8.8.8"] } })
    assert.isUndefined(await client.findServerError("public.example.com", 587))
    assert.match(String(await client.findServerError("public.example.com", 22)), /must use port 25 or 465 or 587/)
    assert.match(String(await client.findServerError("inside.example.com", 587)), /public addresses only/)
    assert.match(String(await client.findServerError("localhost", 587)), /public host/)
    assert.match(String(await client.findServerError("gone.example.com", 587)), /DNS has no address/)
  })
})
