import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { type PaymentBody, startPayer } from "../../support/fixtures/payments.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const unknownInvoice = `inv_${"0".repeat(26)}`

describe("Payments", () => {
  const fixture = useFixture(startServiceWithPool)
  const newPayer = async (currencyCode?: string) => {
    const { service } = fixture()
    return startPayer(service, await service.newTenant(), currencyCode)
  }
  type Payer = Awaited<ReturnType<typeof newPayer>>

  const settledOf = async ({ read }: Payer, invoice: string) => {
    const { balanceMinor, paidAt, paidMinor, status } = await read(invoice)
    return { status, paidMinor, balanceMinor, hasPaidAt: paidAt !== undefined }
  }

  it("settle several invoices at once, in full and in part, and keep the rest", async () => {
    const payer = await newPayer()
    const [full, part] = [await payer.newInvoice(1000), await payer.newInvoice(500)]
    const payment = await payer.pay(
      1300,
      [
        [full.id, 1000],
        [part.id, 200]
      ],
      { method: "bank transfer", reference: "INV 1 and 2", externalId: "line-1", receivedAt: "2026-11-01T00:00:00Z" }
    )
    const { createdAt, id, updatedAt, ...fields } = payment
    assert.match(id, /^pay_[a-z0-9]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(fields, {
      client: payer.client,
      currencyCode: "EUR",
      amountMinor: 1300,
      receivedAt: "2026-11-01T00:00:00.000Z",
      method: "bank transfer",
      reference: "INV 1 and 2",
      externalId: "line-1",
      status: "RECORDED",
      allocations: [
        { invoice: full.id, amountMinor: 1000 },
        { invoice: part.id, amountMinor: 200 }
      ],
      unallocatedMinor: 100,
      refundedMinor: 0,
      createdBy: "owner"
    })
    assert.deepStrictEqual(await payer.get(`/payments/${id}`), payment)
    assert.deepStrictEqual(await settledOf(payer, full.id), {
      status: "PAID",
      paidMinor: 1000,
      balanceMinor: 0,
      hasPaidAt: true
    })
    assert.deepStrictEqual(await settledOf(payer, part.id), {
      status: "FINALIZED",
      paidMinor: 200,
      balanceMinor: 300,
      hasPaidAt: false
    })
  })

  it("are received now unless they say when, and settle nothing unless they say what", async () => {
    const payer = await newPayer()
    const before = new Date().toISOString()
    const payment = await payer.pay(70)
    assert.isAtLeast(String(payment["receivedAt"]).localeCompare(before), 0)
    assert.isAtMost(String(payment["receivedAt"]).localeCompare(String(payment["createdAt"])), 0)
    assert.deepInclude(payment, { allocations: [], unallocatedMinor: 70 })
  })

  it("name every fault of every allocation in one response, and book nothing", async () => {
    const { service } = fixture()
    const payer = await newPayer()
    const other = await startPayer(service, payer.tenant)
    const swiss = await startPayer(service, payer.tenant, "CHF")
    const open = await payer.newInvoice(100)
    const draft = await payer.newDraft(100)
    const foreign = await other.newInvoice(100)
    const { id: paid } = await payer.newInvoice(100)
    await payer.transition(paid, "pay")
    const swissInvoice = await swiss.newInvoice(100)
    const allocations = [open.id, draft, foreign.id, paid, unknownInvoice].map((invoiceId) => ({
      invoiceId,
      amountMinor: 101
    }))
    assertValidationError(
      await payer.call("POST", "/payments", {
        clientId: payer.client,
        currencyCode: "EUR",
        amountMinor: 504,
        allocations
      }),
      ["allocations", "max", "must add up to at most 504, the amount of the payment, but add up to 505"],
      ["allocations[0].amountMinor", "max", "must be at most 100, the balance of the invoice, but is 101"],
      ["allocations[1].invoiceId", "state", "is DRAFT; only a FINALIZED invoice can be settled"],
      ["allocations[2].invoiceId", "exists", `is not an invoice to the client ${payer.client}`],
      ["allocations[3].invoiceId", "state", "is PAID; only a FINALIZED invoice can be settled"],
      ["allocations[4].invoiceId", "exists", "does not exist in this tenant"]
    )
    assertValidationError(
      await swiss.call("POST", "/payments", {
        clientId: swiss.client,
        currencyCode: "EUR",
        amountMinor: 100,
        allocations: [{ invoiceId: swissInvoice.id, amountMinor: 100 }]
      }),
      ["allocations[0].invoiceId", "currency", "is in CHF, but the payment is in EUR"]
    )
    assert.lengthOf(await payer.get<ReadonlyArray<PaymentBody>>("/payments"), 1, "that of the paid invoice")
    assert.strictEqual((await payer.read(open.id))["balanceMinor"], 100)
  })

  it("reject an invoice that is named twice, and a client of another tenant", async () => {
    const { service } = fixture()
    const payer = await newPayer()
    const { id } = await payer.newInvoice(100)
    const body = { clientId: payer.client, currencyCode: "EUR", amountMinor: 2 }
    const allocation = { invoiceId: id, amountMinor: 1 }
    const twice = await payer.call("POST", "/payments", { ...body, allocations: [allocation, allocation] })
    assertValidationError(twice, ["allocations", "unique", "must not contain an invoice twice"])
    const foreign = (await resourceMaker(service, await service.newTenant()).make("clients")).id
    for (const allocations of [[], [allocation]])
      assertFailure(
        await payer.call("POST", "/payments", { ...body, clientId: foreign, allocations }),
        404,
        notFoundText
      )
  })

  it("cannot be booked twice with one external identifier, until they are reversed", async () => {
    const payer = await newPayer()
    const first = await payer.pay(10, [], { externalId: "camt-7" })
    const again = () =>
      payer.call("POST", "/payments", {
        clientId: payer.client,
        currencyCode: "EUR",
        amountMinor: 10,
        externalId: "camt-7"
      })
    assertValidationError(await again(), ["externalId", "unique", `is already booked as the payment ${first.id}`])
    await payer.act(`/payments/${first.id}/reverse`, { reason: "Wrong client" })
    assert.strictEqual((await again()).status, 201)
  })

  it("are booked once when one external identifier arrives many times at once", async () => {
    const payer = await newPayer()
    const responses = await Promise.all(
      Array.from({ length: 8 }, () =>
        payer.call("POST", "/payments", {
          clientId: payer.client,
          currencyCode: "EUR",
          amountMinor: 10,
          externalId: "x"
        })
      )
    )
    assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 400)])
  })

  it.each([
    ["method", 50],
    ["reference", 200],
    ["externalId", 200]
  ])("have a %s of 1 to %i characters", async (field, max) => {
    const payer = await newPayer()
    const record = (value: string) =>
      payer.call("POST", "/payments", { clientId: payer.client, currencyCode: "EUR", amountMinor: 1, [field]: value })
    for (const length of [1, max]) assert.strictEqual((await record("a".repeat(length))).status, 201)
    assertValidationError(await record(""), [field, "minLength", "must have at least 1 character"])
    assertValidationError(await record("a".repeat(max + 1)), [
      field,
      "maxLength",
      `must have at most ${max} characters`
    ])
  })

  it("and their parts are at least 1 minor unit, and at most the largest exact amount", async () => {
    const payer = await newPayer()
    const { id: invoiceId } = await payer.newInvoice(100)
    const { id } = await payer.pay(Number.MAX_SAFE_INTEGER)
    for (const [path, body] of [
      ["/payments", { clientId: payer.client, currencyCode: "EUR" }],
      [`/payments/${id}/allocate`, { invoiceId }],
      [`/payments/${id}/refund`, {}],
      [`/invoices/${invoiceId}/write-off`, { reason: "Goodwill" }]
    ] as const) {
      const send = (amountMinor: number) => payer.call("POST", path, { ...body, amountMinor })
      assertValidationError(await send(0), ["amountMinor", "min", "must be at least 1"])
      assertValidationError(await send(Number.MAX_SAFE_INTEGER + 1), [
        "amountMinor",
        "max",
        `must be at most ${Number.MAX_SAFE_INTEGER}`
      ])
      assert.include([200, 201], (await send(1)).status, path)
    }
  })

  it("are reversed, and invoices written off, for a reason of 1 to 500 characters", async () => {
    const payer = await newPayer()
    for (const action of ["reverse", "write-off"]) {
      const path = async () =>
        action === "reverse" ? `/payments/${(await payer.pay(1)).id}` : `/invoices/${(await payer.newInvoice(1)).id}`
      const send = async (reason: string) => payer.call("POST", `${await path()}/${action}`, { reason })
      for (const length of [1, 500]) assert.strictEqual((await send("a".repeat(length))).status, 200)
      assertValidationError(await send(""), ["reason", "minLength", "must have at least 1 character"])
      assertValidationError(await send("a".repeat(501)), ["reason", "maxLength", "must have at most 500 characters"])
    }
  })

  it("are allocated later, also twice to the same invoice", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(1000)
    const { id } = await payer.pay(900)
    const allocate = (amountMinor: number) =>
      payer.act(`/payments/${id}/allocate`, { invoiceId: invoice.id, amountMinor })
    assert.deepInclude(await allocate(300), { unallocatedMinor: 600 })
    const after = await allocate(200)
    assert.deepInclude(after, { unallocatedMinor: 400 })
    assert.deepStrictEqual(after.allocations, [{ invoice: invoice.id, amountMinor: 500 }])
    assert.deepInclude(await settledOf(payer, invoice.id), { paidMinor: 500, balanceMinor: 500 })
    assertValidationError(
      await payer.call("POST", `/payments/${id}/allocate`, { invoiceId: invoice.id, amountMinor: 501 }),
      ["amountMinor", "max", "must be at most 400, what is left of the payment, but is 501"],
      ["amountMinor", "max", "must be at most 500, the balance of the invoice, but is 501"]
    )
  })

  it("reopen their invoices when they are reversed", async () => {
    const payer = await newPayer()
    const [full, part] = [await payer.newInvoice(1000), await payer.newInvoice(500)]
    const { id } = await payer.pay(1200, [
      [full.id, 1000],
      [part.id, 200]
    ])
    const reversed = await payer.act(`/payments/${id}/reverse`, { reason: "Returned direct debit" })
    assert.deepInclude(reversed, {
      status: "REVERSED",
      allocations: [],
      unallocatedMinor: 0,
      reversalReason: "Returned direct debit"
    })
    const open = { status: "FINALIZED" as const, paidMinor: 0, hasPaidAt: false }
    assert.deepStrictEqual(await settledOf(payer, full.id), { ...open, balanceMinor: 1000 })
    assert.deepStrictEqual(await settledOf(payer, part.id), { ...open, balanceMinor: 500 })
    for (const [action, body] of [
      ["reverse", { reason: "Again" }],
      ["allocate", { invoiceId: full.id, amountMinor: 1 }],
      ["refund", { amountMinor: 1 }]
    ] as const)
      assertValidationError(await payer.call("POST", `/payments/${id}/${action}`, body), [
        "status",
        "state",
        "is REVERSED; only a RECORDED payment can be changed"
      ])
  })

  it("are refunded out of what settles no invoice, and not reversed after that", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(100)
    const { id } = await payer.pay(150, [[invoice.id, 100]])
    assertValidationError(await payer.call("POST", `/payments/${id}/refund`, { amountMinor: 51 }), [
      "amountMinor",
      "max",
      "must be at most 50, what is left of the payment, but is 51"
    ])
    const refunded = await payer.act(`/payments/${id}/refund`, { amountMinor: 20, reference: "Overpaid" })
    assert.deepInclude(refunded, { refundedMinor: 20, unallocatedMinor: 30 })
    assertValidationError(await payer.call("POST", `/payments/${id}/reverse`, { reason: "Mistake" }), [
      "refundedMinor",
      "state",
      "is 20; a payment cannot be reversed after a refund"
    ])
  })

  it("are listed by client, by invoice, by status and by external identifier", async () => {
    const { service } = fixture()
    const payer = await newPayer()
    const other = await startPayer(service, payer.tenant)
    const invoice = await payer.newInvoice(100)
    const first = await payer.pay(60, [[invoice.id, 60]], { externalId: "a" })
    const second = await payer.pay(10)
    const third = await other.pay(5)
    const idsOf = async (query: string) =>
      (await payer.get<ReadonlyArray<PaymentBody>>(`/payments?${query}`)).map(({ id }) => id)
    assert.deepStrictEqual(await idsOf(""), [first.id, second.id, third.id])
    assert.deepStrictEqual(await idsOf(`clientId=${payer.client}`), [first.id, second.id])
    assert.deepStrictEqual(await idsOf(`invoiceId=${invoice.id}`), [first.id])
    assert.deepStrictEqual(await idsOf("externalId=a"), [first.id])
    await payer.act(`/payments/${first.id}/reverse`, { reason: "Mistake" })
    assert.deepStrictEqual(await idsOf("status=REVERSED"), [first.id])
    assert.deepStrictEqual(await idsOf(`invoiceId=${invoice.id}`), [first.id], "it settled the invoice once")
  })

  it("respect If-Match", async () => {
    const payer = await newPayer()
    const { id } = await payer.pay(10)
    const { headers } = await payer.call("GET", `/payments/${id}`)
    const etag = headers.get("etag") ?? ""
    const refund = () => payer.call("POST", `/payments/${id}/refund`, { amountMinor: 1 }, { "if-match": etag })
    assert.strictEqual((await refund()).status, 200)
    assert.strictEqual((await refund()).status, 412)
  })

  it("keep a client from being deleted", async () => {
    const { service } = fixture()
    const tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const { id } = await make("clients")
    const as = { as: "owner", tenant }
    const body = { clientId: id, currencyCode: "EUR", amountMinor: 1 }
    assert.strictEqual((await service.api("POST", "/payments", { ...as, body })).status, 201)
    assertValidationError(await service.api("DELETE", `/clients/${id}`, as), [
      "id",
      "inUse",
      "is still used by 1 payment"
    ])
  })
})
