import { randomFillSync } from "node:crypto"

/** Crockford base 32, in ascending order, so that text order is time order. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const randomLength = 16
const random = new Uint8Array(randomLength)
let lastTime = 0
let lastTimeText = ""

/** Within one millisecond the random part is incremented, so that identifiers sort in order of creation. */
const incrementRandom = () => {
  for (let i = randomLength - 1; i >= 0; i--) {
    const incremented = ((random[i] ?? 0) + 1) % 32
    random[i] = incremented
    if (incremented !== 0) return
  }
}

/** Random bytes are fetched in bulk, because each call costs more than an identifier. */
const randomPool = new Uint8Array(64 * randomLength)
let poolOffset = randomPool.length

const drawRandom = () => {
  if (poolOffset === randomPool.length) {
    randomFillSync(randomPool)
    poolOffset = 0
  }
  for (let i = 0; i < randomLength; i++) random[i] = (randomPool[poolOffset++] ?? 0) % 32
}

const encodeTime = (time: number) => {
  let text = ""
  for (let rest = time, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text
  return text
}

/** 10 characters of milliseconds and 16 random ones: 26 in all, sortable by time, like a ULID. */
export const makeIdSuffix = (now: number) => {
  if (now > lastTime) {
    lastTime = now
    lastTimeText = encodeTime(now)
    drawRandom()
  } else incrementRandom()
  let text = lastTimeText
  for (const value of random) text += alphabet.charAt(value)
  return text
}

export const makeId = (prefix: string) => `${prefix}_${makeIdSuffix(Date.now())}`

/** Sorts before every identifier made at or after this time, and after all earlier ones. */
export const minIdAt = (prefix: string, time: number) => `${prefix}_${encodeTime(Math.max(0, time))}`
