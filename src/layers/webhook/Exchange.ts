import { Data, Effect } from "effect"
import type { Dispatcher } from "undici"
import type { Answer } from "./Answer.ts"

/** A request came to no answer, or to no whole one. */
export class Broken extends Data.TaggedError("Broken")<{ readonly cause: unknown }> {}

const enough = () => new Error("No more of this is wanted")

/** One request and its answer, which is written down as it comes. Redirects are answers like any other. */
export const exchange = (agent: Dispatcher, request: Dispatcher.DispatchOptions, answer: Answer) =>
  Effect.async<void, Broken>((resume) => {
    let sending: Dispatcher.DispatchController | undefined
    let isOver = false
    const end = (result: Effect.Effect<void, Broken>) => {
      isOver = true
      resume(result)
    }

    agent.dispatch(request, {
      onRequestStart: (controller) => {
        sending = controller
        if (isOver) controller.abort(enough())
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) answer.begin(status, headers["retry-after"])
      },
      onResponseData: (controller, piece) => {
        if (answer.take(piece)) return
        end(Effect.void)
        controller.abort(enough())
      },
      onResponseEnd: () => end(Effect.void),
      onResponseError: (_, cause) => end(Effect.fail(new Broken({ cause })))
    })

    return Effect.sync(() => {
      isOver = true
      sending?.abort(enough())
    })
  })
