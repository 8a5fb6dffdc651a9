import type { Attacker } from "../attacker.ts"
import type { Candidate, PreparedRequest } from "./requests.ts"

export type Prepare = (candidate: Candidate) => PreparedRequest

/** A candidate and its answer while nothing else runs. */
export interface Tried {
  readonly candidate: Candidate
  readonly status: number
  readonly millis: number
  readonly bytes: number
  readonly text: string
  /** The path of the next page. */
  readonly next: string | undefined
}

const timeoutMillis = 20_000
/** After this time an operation's remaining candidates are not tried. */
const maxMillis = 10_000
const promptMillis = 100
const cursorPages = 25
const shownText = 300

const getNextPath = (link: string | ReadonlyArray<string> | undefined) => {
  const [, url] = /<([^>]+)>; rel="next"/.exec(String(link ?? "")) ?? []
  return url?.replace(/^.*?\/api\/v1/, "")
}

/** What arrives in time: an export of the whole tenant takes longer. */
const readInTime = async (body: AsyncIterable<Uint8Array>, signal: AbortSignal) => {
  const chunks: Array<Uint8Array> = []
  try {
    for await (const chunk of body) chunks.push(chunk)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return Buffer.concat(chunks)
}

const tryAlone = async (attacker: Attacker, tenant: string, prepare: Prepare, candidate: Candidate): Promise<Tried> => {
  const { body, headers, method, path } = prepare(candidate)
  const startedAt = performance.now()
  const signal = AbortSignal.timeout(timeoutMillis)
  const options = { tenant, headers, signal, ...(body === undefined ? {} : { body }) }
  const response = await attacker.request(method, path, options)
  const bytes = await readInTime(response.body, signal)
  return {
    candidate,
    status: response.statusCode,
    millis: performance.now() - startedAt,
    bytes: bytes.length,
    text: bytes.subarray(0, shownText).toString(),
    next: getNextPath(response.headers["link"])
  }
}

const isAccepted = ({ status }: Tried) => status >= 200 && status < 300

export const findSlowest = (tried: ReadonlyArray<Tried>) => tried.toSorted((a, b) => b.millis - a.millis)[0]

/** What was tried, and what was accepted of it. */
export interface Exploration {
  readonly tried: ReadonlyArray<Tried>
  readonly accepted: ReadonlyArray<Tried>
  readonly candidateCount: number
}

/** Waits until the attacker's requests of before are done: the service may still work on them. */
const untilPrompt = async (attacker: Attacker, tenant: string) => {
  const startedAt = performance.now()
  while (performance.now() - startedAt < timeoutMillis) {
    const sentAt = performance.now()
    await attacker.call("GET", "/me", { tenant })
    if (performance.now() - sentAt < promptMillis) return
  }
}

/** Tries each candidate alone, and pages of the slowest list up to a deep cursor. */
export const explore = async (
  attacker: Attacker,
  tenant: string,
  prepare: Prepare,
  candidates: ReadonlyArray<Candidate>
): Promise<Exploration> => {
  await untilPrompt(attacker, tenant)
  const startedAt = performance.now()
  const tried: Array<Tried> = []
  const hasTime = () => performance.now() - startedAt < maxMillis
  for (const candidate of candidates) {
    if (hasTime()) tried.push(await tryAlone(attacker, tenant, prepare, candidate))
  }
  let page = findSlowest(tried.filter((one) => isAccepted(one) && one.next !== undefined))
  for (let n = 0; n < cursorPages && page?.next !== undefined && hasTime(); n++) {
    page = await tryAlone(attacker, tenant, prepare, { ...page.candidate, path: page.next })
  }
  if (page !== undefined) tried.push(page)
  return { tried, accepted: tried.filter(isAccepted), candidateCount: candidates.length }
}
