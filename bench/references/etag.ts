import { etagOfContent } from "../../src/domain/Etag.ts"

const [start, end] = [`{"data":`, "}"]

/** The entity tag of the resource in a response like that of the service. A list has none. */
export const etagOfResponse = (status: number, body: string) =>
  status < 300 && body.startsWith(`${start}{`)
    ? { etag: etagOfContent(body.slice(start.length, -end.length)) }
    : undefined
