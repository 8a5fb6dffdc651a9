import { type Answer, type Api, type Call, connectApi, idIn, type Method } from "./api.ts"

const connections = 96
const pauseMillis = 100
const preparingMillis = 120_000

const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMillis))

const isShed = ({ status }: Answer) => status === 429 || status === 503

/** One ordinary caller with as many tenants as he likes, who counts what he is answered. */
export const makeAttacker = (base: string, token: string) => {
  const api: Api = connectApi(base, token, connections)
  const answers = new Map<string, number>()
  const count = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1)

  const call = async (method: Method, path: string, options: Call = {}): Promise<Answer> => {
    try {
      const answer = await api.call(method, path, options)
      count(String(answer.status))
      return answer
    } catch (error) {
      if (options.signal?.aborted !== true) {
        count("no answer")
        await pause()
      }
      return { status: 0, text: error instanceof Error ? error.message : "" }
    }
  }

  /** Asks until it is not turned away for the rate or the load: what it is needed for must be there. */
  const prepare = async (method: Method, path: string, options: Call = {}) => {
    const began = performance.now()
    for (;;) {
      const answer = await call(method, path, options)
      if (!isShed(answer) || performance.now() - began > preparingMillis) return answer
      await pause()
    }
  }

  /** Creates something that no quota forbids. */
  const create = async (path: string, options: Call = {}) => {
    const answer = await prepare("POST", path, options)
    if (answer.status >= 300 || answer.status === 0) {
      throw new Error(`POST ${path} of the attacker was answered ${answer.status}: ${answer.text.slice(0, 200)}`)
    }
    return answer
  }

  return {
    request: api.request,
    count,
    call,
    prepare,
    create: async (path: string, options: Call = {}) => idIn(await create(path, options)),
    createTenant: async () => idIn(await create("/tenants", { body: { name: "Attacker" } })),
    answers: (): ReadonlyMap<string, number> => answers,
    close: api.close
  }
}

export type Attacker = ReturnType<typeof makeAttacker>

interface Repeating {
  readonly atOnce: number
  readonly until?: AbortSignal
  readonly total?: number
}

const maxTotal = 1_000_000

/** Does something over and over, so many at once, until told to stop or until it was done as often as wanted. */
export const repeat = async ({ atOnce, total = maxTotal, until }: Repeating, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const one = async () => {
    while (until?.aborted !== true && next < total) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
