/** An error response of the API. */
export class ApiError extends Error {
  readonly statusCode: number
  readonly error: string
  constructor(statusCode: number, error: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.error = error
  }
}

export const notFound = () => new ApiError(404, "NotFound", "Not Found")
export const validationError = (message: string) => new ApiError(400, "ValidationError", message)
