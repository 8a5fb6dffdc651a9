import { Effect } from "effect"
import { jwtVerify } from "jose"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { Tokens } from "../../../src/layers/auth/Tokens.ts"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"

// Every token is good here, and what it says is its own text: only how often one is verified matters.
vi.mock("jose", async (original) => ({
  ...(await original<typeof import("jose")>()),
  jwtVerify: vi.fn(async (token: string) => ({ payload: JSON.parse(token) }))
}))

const mostRemembered = 10_000
const tokenOf = (sub: string, exp = Date.now() / 1000 + 3600) => JSON.stringify({ iss: "issuer", sub, exp })

describe("the memory of verified tokens", () => {
  let verify: (token: string) => Promise<unknown>
  const times = () => vi.mocked(jwtVerify).mock.calls.length

  beforeEach(async () => {
    vi.mocked(jwtVerify).mockClear()
    const settings = await Effect.runPromise(readSettings({ AUTH_JWKS_URL: "http://127.0.0.1:9/jwks" }))
    const tokens = await Effect.runPromise(
      Tokens.pipe(Effect.provide(Tokens.Default), Effect.provideService(Settings, settings))
    )
    verify = (token) => Effect.runPromise(tokens.verify(token))
  })
  afterEach(() => void vi.useRealTimers())

  it("spares a token a second look for a minute", async () => {
    const token = tokenOf("alice")
    for (const _ of [1, 2, 3]) {
      assert.deepStrictEqual(await verify(token), { issuer: "issuer", subject: "alice" })
    }
    assert.strictEqual(times(), 1)
    vi.setSystemTime(Date.now() + 60_000)
    await verify(token)
    assert.strictEqual(times(), 2)
  })

  it("ends where the token ends", async () => {
    const token = tokenOf("alice", Date.now() / 1000 + 10)
    await verify(token)
    vi.setSystemTime(Date.now() + 10_000)
    await verify(token)
    assert.strictEqual(times(), 2)
  })

  it("forgets the oldest when it is full", async () => {
    const tokens = Array.from({ length: mostRemembered + 1 }, (_, index) => tokenOf(`subject-${index}`))
    const [first = "", second = ""] = tokens
    for (const token of tokens.slice(0, mostRemembered)) await verify(token)
    await verify(first)
    assert.strictEqual(times(), mostRemembered, "the first is remembered while there is room")
    await verify(tokens.at(-1) ?? "")
    await verify(second)
    assert.strictEqual(times(), mostRemembered + 1, "one more pushes out no more than one")
    await verify(first)
    assert.strictEqual(times(), mostRemembered + 2, "the first had to go")
  })
})
