import { assert, describe, it } from "vitest"
import {
  applyConfigChange,
  configErrors,
  hasSigningSecret,
  type Integration,
  IntegrationId,
  initialIntegrationState,
  isTracker,
  requireAuthorized,
  requireMailLogin,
  requirePingable,
  requireProviderConfigured,
  requireRotatableSecret,
  requireSameSite,
  toStatusReason
} from "../../../src/domain/integrations/Integration.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"

const integration: Integration = {
  id: IntegrationId.make("int_1"),
  provider: "JIRA",
  name: "Issues",
  status: "ACTIVE",
  isAuthorized: true,
  config: { siteId: "one" },
  subscriptions: [],
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z"
}
const providers = ["JIRA", "GOOGLE_DRIVE", "WEBHOOK", "NATS", "EMAIL"] as const

describe("toStatusReason", () => {
  it("truncates the reason and makes it storable", () => {
    assert.strictEqual(toStatusReason("a\u0000b"), "ab")
    assert.lengthOf(toStatusReason("x".repeat(1001)), 1000)
  })

  it("has a text when the provider gave none", () => {
    assert.strictEqual(toStatusReason(""), "No reason was given")
    assert.strictEqual(toStatusReason("\u0000"), "No reason was given")
  })
})

describe("configErrors", () => {
  it.each<[provider: (typeof providers)[number], config: object, errors: ReadonlyArray<string>]>([
    ["JIRA", {}, []],
    ["JIRA", { siteId: "one", jql: "project = A" }, []],
    ["JIRA", { url: "https://a.example" }, ["config.url unknown: is not supported for JIRA"]],
    ["GOOGLE_DRIVE", { folderId: "1" }, []],
    ["GOOGLE_DRIVE", {}, ["config.folderId required: is required"]],
    ["WEBHOOK", { url: "https://a.example" }, []],
    ["WEBHOOK", {}, ["config.url required: is required"]],
    [
      "WEBHOOK",
      { folderId: "1", jql: "" },
      [
        "config.url required: is required",
        "config.folderId unknown: is not supported for WEBHOOK",
        "config.jql unknown: is not supported for WEBHOOK"
      ]
    ],
    ["EMAIL", {}, []],
    ["EMAIL", { replyTo: "office@a.example", texts: { de: { subject: "{total}" } } }, []],
    ["EMAIL", { host: "mail.a.example", port: 587, security: "STARTTLS", from: "books@a.example" }, []],
    [
      "EMAIL",
      { user: "books", url: "https://a.example" },
      [
        "config.host required: is required",
        "config.port required: is required",
        "config.security required: is required",
        "config.from required: is required",
        "config.url unknown: is not supported for EMAIL"
      ]
    ],
    ["NATS", {}, []],
    ["NATS", { url: "https://a.example" }, ["config.url unknown: is not supported for NATS"]]
  ])("reports for %s with %j: %j", (provider, config, errors) => {
    assert.deepStrictEqual(
      configErrors(provider, config).map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`),
      errors
    )
  })
})

describe("applyConfigChange", () => {
  it("takes any settings before the authorization, and while no site is known", () => {
    const requested = { siteId: "other", jql: "project = A" }
    assertPasses(applyConfigChange({ ...integration, status: "PENDING_AUTH" }, requested), requested)
    assertPasses(applyConfigChange({ ...integration, config: {} }, requested), requested)
  })

  it("keeps the site of an authorized integration", () => {
    assertPasses(applyConfigChange(integration, { jql: "project = A" }), { jql: "project = A", siteId: "one" })
    assertPasses(applyConfigChange(integration, { siteId: "one" }), { siteId: "one" })
    assert.deepStrictEqual(messagesOf(applyConfigChange(integration, { siteId: "other" })), [
      "config.siteId state: is one since the authorization and cannot change; create another integration for another site"
    ])
  })
})

describe("requireSameSite", () => {
  it("fails only if the settings name another site than the authorization", () => {
    assert.isUndefined(messagesOf(requireSameSite(integration, "one")))
    assert.isUndefined(messagesOf(requireSameSite(integration, undefined)))
    assert.isUndefined(messagesOf(requireSameSite({ ...integration, config: {} }, "one")))
    assert.deepStrictEqual(messagesOf(requireSameSite(integration, "other")), [
      "config.siteId state: has changed since the authorization began; authorize again"
    ])
  })
})

describe("requireProviderConfigured", () => {
  it("names the settings that the server lacks", () => {
    assert.isUndefined(messagesOf(requireProviderConfigured("JIRA", [])))
    assert.deepStrictEqual(messagesOf(requireProviderConfigured("JIRA", ["JIRA_ID", "JIRA_SECRET"])), [
      "provider state: is JIRA, which this server is not configured for: the operator must set JIRA_ID, JIRA_SECRET"
    ])
  })
})

describe("initialIntegrationState", () => {
  it.each(providers)("waits for the authorization of a provider with OAuth: %s", (provider) => {
    const needsAuthorization = provider === "JIRA" || provider === "GOOGLE_DRIVE"
    assert.deepStrictEqual<unknown>(initialIntegrationState(provider), {
      status: needsAuthorization ? "PENDING_AUTH" : "ACTIVE",
      isAuthorized: !needsAuthorization,
      subscriptions: []
    })
  })
})

describe("requireAuthorized", () => {
  it("fails without an authorization", () => {
    assert.isUndefined(messagesOf(requireAuthorized(integration)))
    assert.deepStrictEqual(messagesOf(requireAuthorized({ ...integration, isAuthorized: false })), [
      "isAuthorized state: is false; authorize the integration first"
    ])
  })
})

describe("requirePingable", () => {
  it("passes WEBHOOK and NATS only", () => {
    for (const provider of ["WEBHOOK", "NATS"] as const)
      assert.isUndefined(messagesOf(requirePingable({ ...integration, provider })))
    for (const provider of ["JIRA", "GOOGLE_DRIVE"] as const)
      assert.deepStrictEqual(messagesOf(requirePingable({ ...integration, provider })), [
        `provider state: is ${provider}; only WEBHOOK and NATS integrations can be pinged`
      ])
  })
})

describe("requireRotatableSecret", () => {
  it("passes a WEBHOOK, which has a signing secret, and JIRA, which has a webhook URL", () => {
    assert.deepStrictEqual(providers.filter(hasSigningSecret), ["WEBHOOK"])
    assert.deepStrictEqual(providers.filter(isTracker), ["JIRA"])
    for (const provider of ["WEBHOOK", "JIRA"] as const)
      assert.isUndefined(messagesOf(requireRotatableSecret({ ...integration, provider })))
    for (const provider of ["NATS", "GOOGLE_DRIVE"] as const)
      assert.deepStrictEqual(messagesOf(requireRotatableSecret({ ...integration, provider })), [
        `provider state: is ${provider}, which has no secret to rotate`
      ])
  })
})

describe("requireMailLogin", () => {
  const config = {
    host: "mail.a.example",
    port: 587,
    security: "STARTTLS",
    from: "books@a.example",
    user: "books"
  } as const
  const login = { provider: "EMAIL", before: config, config, password: undefined } as const

  it("accepts a user with a password, and an unchanged user without", () => {
    assert.isUndefined(messagesOf(requireMailLogin({ ...login, before: undefined, password: "secret" })))
    assert.isUndefined(messagesOf(requireMailLogin(login)))
    assert.isUndefined(messagesOf(requireMailLogin({ ...login, config: { ...config, from: "other@a.example" } })))
    assert.isUndefined(messagesOf(requireMailLogin({ ...login, before: undefined, config: {} })))
  })

  it("requires the password of a new user, and again for another server", () => {
    const required = ["password required: is required for config.user, and again when the server changes"]
    assert.deepStrictEqual(messagesOf(requireMailLogin({ ...login, before: undefined })), required)
    for (const change of [{ host: "evil.example" }, { port: 25 }, { security: "TLS" as const }, { user: "other" }])
      assert.deepStrictEqual(messagesOf(requireMailLogin({ ...login, config: { ...config, ...change } })), required)
  })

  it("rejects a password without a user, and of another provider", () => {
    const given = { ...login, config: {}, password: "secret" }
    assert.deepStrictEqual(messagesOf(requireMailLogin(given)), ["password state: needs config.user"])
    assert.deepStrictEqual(messagesOf(requireMailLogin({ ...given, provider: "NATS" })), [
      "password unknown: is not supported for NATS"
    ])
  })
})
