export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export const refusal = (status: number, error: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ error, message })
})

export const invalid = refusal(400, "ValidationError", "Request validation failed")
export const notFound = refusal(404, "NotFound", "Not Found")
