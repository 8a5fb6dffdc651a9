import { randomUUID } from "node:crypto"
import { afterEach, assert, beforeAll, describe, it } from "vitest"
import type { AllocationBody, CreditNoteBody, PaymentBody } from "../../support/fixtures/payments.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"

const clientCount = 3
const invoicesPerClient = 8
const operationCount = 300
/** After how many operations a process is killed. Another one takes its place. */
const killAt = [80, 180]
/** How many operations run at a time. */
const concurrency = 16

interface InvoiceState {
  readonly id: string
  readonly status: string
  readonly totalMinor: number
  readonly paidMinor: number
  readonly creditedMinor: number
  readonly writtenOffMinor: number
  readonly balanceMinor: number
}

interface Client {
  readonly id: string
  readonly invoices: ReadonlyArray<string>
  /** The line of each invoice. */
  readonly lines: ReadonlyMap<string, string>
}

/** A finalized credit note, with what the accepted requests did with it. */
interface KnownNote {
  readonly client: string
  readonly invoice: string
  readonly totalMinor: number
  readonly allocations: Array<AllocationBody>
  refundedMinor: number
}

interface KnownPayment {
  readonly client: string
  readonly amountMinor: number
  refundedMinor: number
  isReversed: boolean
}

/** What the accepted requests add up to, in whatever order the service ran them. */
class Oracle {
  readonly allocations: Array<AllocationBody & { readonly payment: string }> = []
  readonly payments = new Map<string, KnownPayment>()
  readonly notes = new Map<string, KnownNote>()
  readonly writtenOff = new Map<string, number>()
  readonly voided = new Set<string>()
  /** Invoices that `pay` settled, with a payment that the response does not name. */
  readonly paid: Array<string> = []

  recordPayment({ allocations, amountMinor, client, id }: PaymentBody) {
    this.payments.set(id, { client, amountMinor, refundedMinor: 0, isReversed: false })
    for (const allocation of allocations) this.allocations.push({ ...allocation, payment: id })
  }

  paymentsOf({ id }: Client) {
    return [...this.payments].filter(([, { client }]) => client === id).map(([payment]) => payment)
  }

  notesOf({ id }: Client) {
    return [...this.notes].filter(([, { client }]) => client === id).map(([note]) => note)
  }

  #countsOf(payment: string) {
    return this.payments.get(payment)?.isReversed === false
  }

  paidMinor(invoice: string) {
    return this.allocations
      .filter((allocation) => allocation.invoice === invoice && this.#countsOf(allocation.payment))
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  }

  unallocatedMinor(payment: string) {
    const { amountMinor, isReversed, refundedMinor } = this.payments.get(payment) ?? assert.fail(payment)
    const allocated = this.allocations
      .filter((allocation) => allocation.payment === payment)
      .reduce((sum, allocation) => sum + allocation.amountMinor, 0)
    return isReversed ? 0 : amountMinor - refundedMinor - allocated
  }
}

describe("Settlement", { timeout: 180_000 }, () => {
  let processes: ApiProcesses | undefined
  beforeAll(bundleApi)
  afterEach(() => processes?.stopAll())

  /** Requests that go to two processes in turn, and are repeated with the same idempotency key until one answers. */
  const startApis = async () => {
    const started = await prepareApiProcesses({
      DATABASE_POOL: "8",
      MAX_QUEUED_REQUESTS_PER_CALLER: "1000",
      MAX_QUEUED_REQUESTS: "1000"
    })
    processes = started
    const apis = await Promise.all([started.start(), started.start()])
    const authorization = `Bearer ${await started.token("owner")}`
    let requests = 0
    let repeated = 0
    const send = async (method: string, path: string, tenant: string | undefined, key: string, body?: object) => {
      requests += 1
      try {
        const response = await fetch(`${apis[requests % apis.length]?.url}/api/v1${path}`, {
          method,
          headers: {
            authorization,
            ...(tenant === undefined ? {} : { "tenant-id": tenant }),
            ...(method === "POST" ? { "idempotency-key": key } : {}),
            ...(body === undefined ? {} : { "content-type": "application/json" })
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        const text = await response.text()
        return { status: response.status, text, body: JSON.parse(text) }
      } catch {
        return undefined
      }
    }
    const call = async (method: string, path: string, tenant?: string, body?: object) => {
      const key = randomUUID()
      for (;;) {
        const response = await send(method, path, tenant, key, body)
        if (response !== undefined && response.status !== 503 && response.status !== 409) return response
        repeated += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const replace = async (index: number) => {
      const [old] = apis.splice(index, 1)
      await old?.kill()
      apis.push(await started.start())
    }
    return { call, replace, pool: openPool(started.database.url), repeated: () => repeated }
  }

  const prepare = async (random: { readonly nextInt: (min: number, max: number) => number }) => {
    const apis = await startApis()
    const created = async (path: string, body: object, tenant?: string) => {
      const { body: response, status, text } = await apis.call("POST", path, tenant, body)
      assert.strictEqual(status, 201, text)
      return response.data
    }
    const tenant = String((await created("/tenants", { name: "Tenant" })).id)
    const makeInvoice = async (contractId: string) => {
      const { id } = await created("/invoices", { contractId }, tenant)
      const billables = [{ name: "Work", amountMinor: random.nextInt(100, 2000) }]
      const [line] = await created("/billables", { invoiceId: id, billables }, tenant)
      return [String(id), String(line.id)] as const
    }
    const makeClient = async (): Promise<Client> => {
      const { id } = await created("/clients", { name: "Client" }, tenant)
      const terms = { clientId: id, name: "Contract", currencyCode: "EUR", status: "ACTIVE" }
      const contract = (await created("/contracts", terms, tenant)).id
      const made = await Promise.all(Array.from({ length: invoicesPerClient }, () => makeInvoice(contract)))
      return { id, invoices: made.map(([invoice]) => invoice), lines: new Map(made) }
    }
    const clients = await Promise.all(Array.from({ length: clientCount }, makeClient))
    const call = (method: string, path: string, body?: object) => apis.call(method, path, tenant, body)
    return { ...apis, call, tenant, clients }
  }

  /** Write-offs and their reversals of one invoice run one after the other, because their order decides the result. */
  const makeLocks = () => {
    const last = new Map<string, Promise<unknown>>()
    return <A>(key: string, work: () => Promise<A>): Promise<A> => {
      const next = (last.get(key) ?? Promise.resolve()).then(work)
      last.set(
        key,
        next.catch(() => undefined)
      )
      return next
    }
  }

  it("adds up to the journal and to what was requested, while processes are killed", async () => {
    const seed = Date.now() % 2 ** 31
    const random = { nextInt: makeRandom(seed) }
    const { call, clients, pool, repeated, replace, tenant } = await prepare(random)
    const oracle = new Oracle()
    const inTurn = makeLocks()
    const accepted = new Set<string>()
    const pick = <A>(items: ReadonlyArray<A>) => items[random.nextInt(0, items.length - 1)]

    const operations = {
      finalize: async ({ invoices }: Client) => {
        const { status, text } = await call("POST", `/invoices/${pick(invoices)}/finalize`)
        assert.include([200, 400], status, text)
        return status === 200
      },

      record: async ({ id, invoices }: Client) => {
        const wanted = [...new Set([pick(invoices), pick(invoices)])].slice(0, random.nextInt(0, 2))
        const allocations = wanted.map((invoiceId) => ({ invoiceId, amountMinor: random.nextInt(1, 700) }))
        const amountMinor = allocations.reduce((sum, one) => sum + one.amountMinor, random.nextInt(1, 300))
        const body = { clientId: id, currencyCode: "EUR", amountMinor, allocations }
        const { body: response, status, text } = await call("POST", "/payments", body)
        assert.include([201, 400], status, text)
        if (status === 201) oracle.recordPayment(response.data)
        return status === 201
      },

      allocate: async (client: Client) => {
        const payment = pick(oracle.paymentsOf(client))
        const [invoiceId, amountMinor] = [pick(client.invoices), random.nextInt(1, 100)]
        if (payment === undefined || invoiceId === undefined) return false
        const { status, text } = await call("POST", `/payments/${payment}/allocate`, { invoiceId, amountMinor })
        assert.include([200, 400], status, text)
        if (status === 200) oracle.allocations.push({ payment, invoice: invoiceId, amountMinor })
        return status === 200
      },

      reverse: async (client: Client) => {
        const payment = pick(oracle.paymentsOf(client))
        if (payment === undefined) return false
        const { status, text } = await call("POST", `/payments/${payment}/reverse`, { reason: "Returned" })
        assert.include([200, 400], status, text)
        const known = oracle.payments.get(payment)
        if (status === 200 && known !== undefined) known.isReversed = true
        return status === 200
      },

      refund: async (client: Client) => {
        const payment = pick(oracle.paymentsOf(client))
        if (payment === undefined) return false
        const amountMinor = random.nextInt(1, 200)
        const { status, text } = await call("POST", `/payments/${payment}/refund`, { amountMinor })
        assert.include([200, 400], status, text)
        const known = oracle.payments.get(payment)
        if (status === 200 && known !== undefined) known.refundedMinor += amountMinor
        return status === 200
      },

      credit: async ({ id: client, invoices, lines }: Client) => {
        const invoice = pick(invoices) ?? ""
        const part = { lines: [{ billableId: lines.get(invoice), amountMinor: random.nextInt(1, 500) }] }
        const content = random.nextInt(0, 4) === 0 ? { full: true } : part
        const draft = await call("POST", "/credit-notes", { invoiceId: invoice, reason: "Mistake", ...content })
        assert.include([201, 400], draft.status, draft.text)
        if (draft.status === 400) return false
        const { body, status, text } = await call("POST", `/credit-notes/${draft.body.data.id}/finalize`)
        assert.include([200, 400], status, text)
        if (status === 400) return false
        const { id, totalMinor } = body.data
        oracle.notes.set(id, { client, invoice, totalMinor, allocations: [], refundedMinor: 0 })
        return true
      },

      allocateCredit: async (client: Client) => {
        const id = pick(oracle.notesOf(client)) ?? ""
        const note = oracle.notes.get(id)
        const [invoice = "", amountMinor] = [pick(client.invoices), random.nextInt(1, 100)]
        if (note === undefined || invoice === note.invoice) return false
        const body = { invoiceId: invoice, amountMinor }
        const { status, text } = await call("POST", `/credit-notes/${id}/allocate`, body)
        assert.include([200, 400], status, text)
        if (status === 200) note.allocations.push({ invoice, amountMinor })
        return status === 200
      },

      refundCredit: async (client: Client) => {
        const id = pick(oracle.notesOf(client)) ?? ""
        const note = oracle.notes.get(id)
        if (note === undefined) return false
        const amountMinor = random.nextInt(1, 100)
        const { status, text } = await call("POST", `/credit-notes/${id}/refund`, { amountMinor })
        assert.include([200, 400], status, text)
        if (status === 200) note.refundedMinor += amountMinor
        return status === 200
      },

      pay: async ({ invoices }: Client) => {
        const invoice = pick(invoices) ?? ""
        const { status, text } = await call("POST", `/invoices/${invoice}/pay`)
        assert.include([200, 400], status, text)
        if (status === 200) oracle.paid.push(invoice)
        return status === 200
      },

      writeOff: async ({ invoices }: Client) => {
        const [invoice, amountMinor] = [pick(invoices) ?? "", random.nextInt(1, 200)]
        return inTurn(invoice, async () => {
          const body = { amountMinor, reason: "Goodwill" }
          const { status, text } = await call("POST", `/invoices/${invoice}/write-off`, body)
          assert.include([200, 400], status, text)
          if (status === 200) oracle.writtenOff.set(invoice, (oracle.writtenOff.get(invoice) ?? 0) + amountMinor)
          return status === 200
        })
      },

      reverseWriteOff: async ({ invoices }: Client) => {
        const invoice = pick(invoices) ?? ""
        return inTurn(invoice, async () => {
          const { status, text } = await call("POST", `/invoices/${invoice}/write-off/reverse`)
          assert.include([200, 400], status, text)
          if (status === 200) oracle.writtenOff.set(invoice, 0)
          return status === 200
        })
      },

      void: async ({ invoices }: Client) => {
        const invoice = pick(invoices.slice(-2)) ?? ""
        const { status, text } = await call("POST", `/invoices/${invoice}/void`)
        assert.include([200, 400], status, text)
        if (status === 200) oracle.voided.add(invoice)
        return status === 200
      }
    }

    const all = Object.keys(operations)
    const weighted = ["finalize", "finalize", "record", "record", "record", "allocate", "allocate", ...all]
    /** In the end only what was never accepted, so that every run has all of them. */
    const namesAt = (count: number) => (count < operationCount ? weighted : all.filter((name) => !accepted.has(name)))
    const kills: Array<Promise<void>> = []
    let started = 0
    const worker = async () => {
      for (let names = weighted; names.length > 0; names = namesAt(started++)) {
        if (started >= (killAt[kills.length] ?? Number.POSITIVE_INFINITY)) kills.push(replace(0))
        const name = (pick(names) ?? "finalize") as keyof typeof operations // a key of `operations`
        const client = pick(clients) ?? assert.fail("no client")
        if (await operations[name](client)) accepted.add(name)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    await Promise.all(kills)
    assert.lengthOf(kills, killAt.length)
    assert.sameMembers([...accepted], all)

    /** The payments that `pay` recorded: one for each success, of the whole balance. */
    const listed = (await call("GET", "/payments?limit=200")).body.data as ReadonlyArray<PaymentBody>
    const unnamed = new Map(listed.filter(({ id }) => !oracle.payments.has(id)).map((payment) => [payment.id, payment]))
    assert.deepStrictEqual(
      [...unnamed.values()].map(({ allocations }) => allocations[0]?.invoice).sort(),
      oracle.paid.sort()
    )
    for (const payment of unnamed.values()) oracle.recordPayment(payment)

    for (const payment of listed)
      assert.deepInclude(
        payment,
        {
          unallocatedMinor: oracle.unallocatedMinor(payment.id),
          refundedMinor: oracle.payments.get(payment.id)?.refundedMinor ?? 0
        },
        `seed ${seed}`
      )
    const notes = (await call("GET", "/credit-notes?status=FINALIZED&limit=200")).body
      .data as ReadonlyArray<CreditNoteBody>
    assert.sameMembers(
      notes.map(({ id }) => id),
      [...oracle.notes.keys()]
    )
    const sumOf = (allocations: ReadonlyArray<AllocationBody>) =>
      allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
    for (const { allocations, id, invoice, refundedMinor, totalMinor, unallocatedMinor } of notes) {
      const known = oracle.notes.get(id) ?? assert.fail(id)
      assert.deepStrictEqual([totalMinor, refundedMinor], [known.totalMinor, known.refundedMinor], `seed ${seed}`)
      assert.strictEqual(sumOf(allocations) + unallocatedMinor + refundedMinor, totalMinor, `seed ${seed}`)
      const ofOthers = (all: ReadonlyArray<AllocationBody>) => all.filter((one) => one.invoice !== invoice)
      for (const other of new Set(ofOthers(allocations).map((one) => one.invoice)))
        assert.strictEqual(
          sumOf(allocations.filter((one) => one.invoice === other)),
          sumOf(known.allocations.filter((one) => one.invoice === other)),
          `seed ${seed}`
        )
      assert.strictEqual(sumOf(ofOthers(allocations)), sumOf(known.allocations), `seed ${seed}`)
    }
    const creditedMinorOf = (invoice: string) =>
      sumOf(notes.flatMap(({ allocations }) => allocations.filter((one) => one.invoice === invoice)))
    for (const [series, count] of [
      ["invoice-series", undefined],
      ["credit-note-series", notes.length]
    ] as const) {
      const [period] = (await call("GET", `/${series}`)).body.data.periods
      assert.deepStrictEqual([period.gaps, period.count], [[], count ?? period.count], `${series}, seed ${seed}`)
    }

    for (const client of clients) {
      let open = 0
      for (const id of client.invoices) {
        const invoice = (await call("GET", `/invoices/${id}`)).body.data as InvoiceState
        const [paidMinor, writtenOffMinor] = [oracle.paidMinor(id), oracle.writtenOff.get(id) ?? 0]
        const creditedMinor = creditedMinorOf(id)
        const isVoid = oracle.voided.has(id)
        const balanceMinor = isVoid ? 0 : invoice.totalMinor - paidMinor - creditedMinor - writtenOffMinor
        assert.deepInclude(invoice, { paidMinor, creditedMinor, writtenOffMinor, balanceMinor }, `${id}, seed ${seed}`)
        assert.isAtLeast(balanceMinor, 0)
        // Nothing is left of its own notes while the invoice is open.
        const own = notes.filter((note) => note.invoice === id)
        assert.isAtMost(
          own.reduce((sum, { totalMinor }) => sum + totalMinor, 0),
          invoice.totalMinor
        )
        if (balanceMinor > 0) assert.strictEqual(own.filter(({ unallocatedMinor }) => unallocatedMinor > 0).length, 0)
        if (isVoid) assert.strictEqual(invoice.status, "VOID")
        else if (invoice.status !== "DRAFT")
          assert.strictEqual(invoice.status, balanceMinor === 0 ? "PAID" : "FINALIZED")
        if (invoice.status === "FINALIZED") open += balanceMinor
      }
      const { balances } = (await call("GET", `/clients/${client.id}/balance`)).body.data
      const unused = [...listed, ...notes]
        .filter((source) => source.client === client.id)
        .reduce((sum, one) => sum + one.unallocatedMinor, 0)
      const expected = { currencyCode: "EUR", openMinor: open, overdueMinor: 0, unusedMinor: unused }
      assert.deepStrictEqual(balances, open + unused === 0 ? [] : [expected])
    }

    const { rows } = await pool.query(
      `select
         (select count(*)::int from invoices left join lateral (
            select coalesce(sum(invoice_minor), 0) as open,
              -coalesce(sum(invoice_minor) filter (where payment_id is not null), 0) as paid,
              -coalesce(sum(invoice_minor) filter (where credit_note_id is not null), 0) as credited
            from journal_entries e where e.tenant_id = invoices.tenant_id and e.invoice_id = invoices.id) journal on true
          where tenant_id = $1 and (paid <> paid_minor or credited <> credited_minor or open <> case when status in ('FINALIZED', 'PAID')
            then total_minor - paid_minor - credited_minor - written_off_minor else 0 end)) as invoices,
         (select count(*)::int from payments left join lateral (
            select coalesce(sum(credit_minor), 0) as unused
            from journal_entries e where e.tenant_id = payments.tenant_id and e.payment_id = payments.id) journal on true
          where tenant_id = $1 and unused <> unallocated_minor) as payments`,
      [tenant]
    )
    assert.deepStrictEqual(rows, [{ invoices: 0, payments: 0 }], "the journal adds up to every sum")
    const series = (await call("GET", "/invoice-series")).body.data.periods[0]
    assert.deepStrictEqual(series.gaps, [])
    assert.isAbove(repeated(), 0, "requests to killed processes were repeated")
    await pool.end()
  })
})

/** A linear congruential generator: the same numbers for the same seed. */
const makeRandom = (seed: number) => {
  let state = seed
  return (min: number, max: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return min + Math.floor((state / 0x80000000) * (max - min + 1))
  }
}
