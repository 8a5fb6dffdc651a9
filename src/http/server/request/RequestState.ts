import type { IncomingMessage } from "node:http"
import { Context } from "effect"
import type { StatementGuard } from "../../../layers/infra/concurrency/RequestShare.ts"
import type { Identity } from "./Authorizer.ts"

const noServices: Context.Context<never> = Context.empty()

/** State of one request. The pipeline fills in what the log and the response need. A class, because every request has one. */
export class RequestState {
  readonly request: IncomingMessage
  readonly id: string
  readonly params: Readonly<Record<string, string | undefined>>
  readonly responseHeaders: Record<string, string>
  identity: Identity | undefined = undefined
  /** The keys that the request's limits count under. An object of its own: the context of a fiber outlives its request. */
  readonly share: { keys: ReadonlyArray<string>; guard: StatementGuard | undefined } = { keys: [], guard: undefined }
  /** Tells the admission that the request no longer arrives, if it counted it. */
  onAdmission: (() => void) | undefined = undefined
  /** Whether a fiber runs already. Until then the request is served by plain functions. */
  hasFiber = false
  /** What its fiber starts with. */
  services = noServices
  readonly #finalizers: Array<() => void> = []

  constructor(request: IncomingMessage, id: string, params: RequestState["params"]) {
    this.request = request
    this.id = id
    this.params = params
    this.responseHeaders = { "x-request-id": id }
  }

  /** Registers a finalizer. It runs when the response is ready, or the client disconnects. */
  onEnd(finalizer: () => void) {
    this.#finalizers.push(finalizer)
  }

  end() {
    for (let finalize = this.#finalizers.pop(); finalize !== undefined; finalize = this.#finalizers.pop()) finalize()
  }
}
