export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export const refusal = (status: number, error: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ error, message })
})
