import type { IncomingMessage } from "node:http"

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const readBody = (request: IncomingMessage) =>
  new Promise<unknown>((resolve) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      text += chunk
    })
    request.on("end", () => resolve(parseJson(text)))
  })

export const isObjectWith = (known: ReadonlySet<string>, body: unknown): body is Readonly<Record<string, unknown>> =>
  typeof body === "object" && body !== null && Object.keys(body).every((key) => known.has(key))

export const isText = (value: unknown, min: number, max: number) =>
  typeof value === "string" &&
  value.length >= min &&
  value.length <= max &&
  !value.includes("\u0000") &&
  value.isWellFormed()

export const isOrder = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
