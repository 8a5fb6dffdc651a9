import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import type { SmtpStage } from "../../../../src/layers/infra/smtp/SmtpResult.ts"
import { type Stage, stages, startScriptedServer } from "./scriptedServer.ts"
import { credentials, useSmtpClient } from "./smtpSender.ts"

/** The end of the message belongs to DATA. */
const reportedStage = (stage: Stage): SmtpStage => (stage === "END" ? "DATA" : stage)

const attempt = async (script: Parameters<typeof startScriptedServer>[0], more: object = {}) => {
  const server = await startScriptedServer(script)
  let hookCalls = 0
  const beforeEnd = Effect.sync(() => {
    hookCalls++
    return true
  })
  const result = await useSmtpClient().send({ port: server.port, credentials, beforeEnd, ...more })
  return { result, hookCalls, ...server }
}

describe("SmtpClient.send", () => {
  it.each(stages)("reports REFUSED with the server's text after 5xx at %s", async (stage) => {
    const { messages, result } = await attempt({ [stage]: "554 go away" })
    assert.deepInclude(result, {
      outcome: "REFUSED",
      stage: reportedStage(stage),
      status: 554,
      response: "554 go away",
      reason: "127.0.0.1 answered 554 go away"
    })
    assert.lengthOf(messages, stage === "END" ? 1 : 0)
  })

  it.each(stages)("reports RETRY after 4xx at %s", async (stage) => {
    const { result } = await attempt({ [stage]: "451 later" })
    assert.deepInclude(result, { outcome: "RETRY", stage: reportedStage(stage), status: 451, response: "451 later" })
  })

  it.each(stages)("reports RETRY after 421 at %s", async (stage) => {
    const { result } = await attempt({ [stage]: "421 closing" })
    assert.deepInclude(result, { outcome: "RETRY", status: 421 })
  })

  it.each(stages.filter((stage) => stage !== "END"))("reports RETRY after a cut connection at %s", async (stage) => {
    const { hookCalls, messages, result } = await attempt({ [stage]: "CUT" })
    assert.strictEqual(result.outcome, "RETRY")
    assert.deepStrictEqual([hookCalls, messages], [0, []])
  })

  it.each(stages.filter((stage) => stage !== "END"))("reports RETRY when the time is over at %s", async (stage) => {
    const { hookCalls, result } = await attempt({ [stage]: "SILENT" }, { timeout: "300 millis" })
    assert.deepInclude(result, { outcome: "RETRY", reason: "127.0.0.1 did not answer within 0.3 s" })
    assert.strictEqual(hookCalls, 0)
  })

  it.each(["CUT", "SILENT"])("reports UNCERTAIN when the answer to the message is %s", async (reply) => {
    const { hookCalls, messages, result } = await attempt({ END: reply }, { timeout: "1 second" })
    assert.strictEqual(result.outcome, "UNCERTAIN")
    assert.deepStrictEqual([hookCalls, messages.length], [1, 1])
  })

  it("reports UNCERTAIN when the answer to the message is none of SMTP", async () => {
    assert.strictEqual((await attempt({ END: "hello?" })).result.outcome, "UNCERTAIN")
  })

  it("reports SENT with the server's text", async () => {
    const { hookCalls, messages, reached, result } = await attempt({})
    assert.deepStrictEqual(result, { outcome: "SENT", status: 250, response: "250 queued as 1" })
    assert.strictEqual(hookCalls, 1)
    assert.deepStrictEqual(messages, ["Subject: Hello\r\n\r\nHello\r\n.."])
    assert.deepStrictEqual(reached.slice(0, 5), ["CONNECT", "EHLO", "STARTTLS", "EHLO", "AUTH"])
  })

  it("ends the message only after the hook", async () => {
    const server = await startScriptedServer({})
    let seen: number | undefined
    const beforeEnd = Effect.delay(
      Effect.sync(() => {
        seen = server.messages.length
        return true
      }),
      "100 millis"
    )
    const result = await useSmtpClient().send({ port: server.port, beforeEnd })
    assert.deepStrictEqual([result.outcome, seen, server.messages.length], ["SENT", 0, 1])
  })

  it("abandons the message when the hook declines", async () => {
    const { messages, result } = await attempt({}, { beforeEnd: Effect.succeed(false) })
    assert.strictEqual(result.outcome, "RETRY")
    assert.lengthOf(messages, 0)
  })

  it("fails with the defect of the hook, and abandons the message", async () => {
    const server = await startScriptedServer({})
    const sending = useSmtpClient().send({ port: server.port, beforeEnd: Effect.die(new Error("no database")) })
    assert.match(String(await sending.catch((error: unknown) => error)), /no database/)
    assert.lengthOf(server.messages, 0)
  })

  it("reports RETRY when the time is over during the hook, and never ends the message", async () => {
    const { messages, result } = await attempt({}, { beforeEnd: Effect.never, timeout: "300 millis" })
    assert.strictEqual(result.outcome, "RETRY")
    assert.lengthOf(messages, 0)
  })

  it("does not count an answer before the end of the message as accepted", async () => {
    const { messages, result } = await attempt(
      { DATA: "354 go on\r\n250 too early" },
      { beforeEnd: Effect.delay(Effect.succeed(true), "300 millis") }
    )
    assert.strictEqual(result.outcome, "RETRY")
    assert.lengthOf(messages, 0)
  })
})
