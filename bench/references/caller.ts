/** Who makes a request, and in which tenant. */
export interface Caller {
  readonly tenant: string
  readonly subject: string
}
