import { Data, Effect } from "effect"
import type { Dispatcher } from "undici"
import type { ResponseCapture } from "./ResponseCapture.ts"

/** No complete response arrived. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly cause: unknown }> {}

const makeAbortError = () => new Error("The request was aborted")

/** Sends one request and captures its response as it arrives. Follows no redirects. */
export const dispatchRequest = (agent: Dispatcher, request: Dispatcher.DispatchOptions, response: ResponseCapture) =>
  Effect.async<void, RequestFailed>((resume) => {
    let activeController: Dispatcher.DispatchController | undefined
    let isDone = false
    const finish = (result: Effect.Effect<void, RequestFailed>) => {
      isDone = true
      resume(result)
    }

    agent.dispatch(request, {
      onRequestStart: (controller) => {
        activeController = controller
        if (isDone) controller.abort(makeAbortError())
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) response.start(status, headers["retry-after"])
      },
      onResponseData: (controller, chunk) => {
        if (response.append(chunk)) return
        finish(Effect.void)
        controller.abort(makeAbortError())
      },
      onResponseEnd: () => finish(Effect.void),
      onResponseError: (_, cause) => finish(Effect.fail(new RequestFailed({ cause })))
    })

    return Effect.sync(() => {
      isDone = true
      activeController?.abort(makeAbortError())
    })
  })
