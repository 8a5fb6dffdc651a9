import { handlerGroups } from "../http/HandlerGroups.ts"
import { httpLive } from "../http/Http.ts"
import { serve } from "./serve.ts"

export const run = () => serve("api", httpLive(handlerGroups))
