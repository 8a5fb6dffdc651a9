/** A refusal in the interface's words. */
export class Refused extends Error {
  readonly statusCode: number
  readonly error: string
  constructor(statusCode: number, error: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.error = error
  }
}

export const notFound = () => new Refused(404, "NotFound", "Not Found")
export const broken = (message: string) => new Refused(400, "ValidationError", message)
