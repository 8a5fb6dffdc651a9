import { randomFillSync } from "node:crypto"

/** Base 32 without the letters people misread, in ascending order, so that text order is time order. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const symbols = 16
const random = new Uint8Array(symbols)
let latest = 0
let latestText = ""

/** Within one millisecond the random part counts up, so that identifiers made one after the other sort that way. */
const countUp = () => {
  for (let i = symbols - 1; i >= 0; i--) {
    const next = ((random[i] ?? 0) + 1) % 32
    random[i] = next
    if (next !== 0) return
  }
}

/** Chance is fetched in bulk, since each trip for it costs more than an identifier. */
const store = new Uint8Array(64 * symbols)
let used = store.length

const refill = () => {
  if (used === store.length) {
    randomFillSync(store)
    used = 0
  }
  for (let i = 0; i < symbols; i++) random[i] = (store[used++] ?? 0) % 32
}

const encodeTime = (time: number) => {
  let text = ""
  for (let rest = time, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text
  return text
}

/** 10 characters of milliseconds and 16 of chance: 26 in all, sortable by time. */
export const suffix = (now: number) => {
  if (now > latest) {
    latest = now
    latestText = encodeTime(now)
    refill()
  } else countUp()
  let text = latestText
  for (const value of random) text += alphabet.charAt(value)
  return text
}

export const makeId = (prefix: string) => `${prefix}_${suffix(Date.now())}`

/** Before every identifier made from this moment on, and behind those made before. */
export const idBound = (prefix: string, time: number) => `${prefix}_${encodeTime(Math.max(0, time))}`
