export interface HttpResponse {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export const makeError = (status: number, error: string, message: string): HttpResponse => ({
  status,
  body: JSON.stringify({ error, message })
})

export const validationError = makeError(400, "ValidationError", "Request validation failed")
export const notFound = makeError(404, "NotFound", "Not Found")
