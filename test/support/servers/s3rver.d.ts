/** The package has no types; these are the ones used here. */
declare module "s3rver" {
  import type { AddressInfo } from "node:net"

  export default class S3rver {
    constructor(options: {
      readonly address: string
      readonly port: number
      readonly silent: boolean
      readonly directory: string
      readonly vhostBuckets: boolean
      readonly configureBuckets: ReadonlyArray<{ readonly name: string }>
    })
    run(): Promise<AddressInfo>
    close(): Promise<void>
    readonly httpServer: { closeAllConnections(): void }
  }
}
