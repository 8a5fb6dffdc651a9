import { Data, Effect, Option, Schema } from "effect"
import { mostOfSiteId } from "../../domain/integrations/Integration.ts"
import { ask, ProviderAway } from "./Ask.ts"

const SiteId = Schema.NonEmptyString.pipe(Schema.maxLength(mostOfSiteId))
export const Site = Schema.Struct({ id: SiteId, url: Schema.String, name: Schema.String })
export type Site = typeof Site.Type

const sitesOf = Schema.decodeUnknownOption(Schema.Array(Site))

/** No one site follows from what the account reaches and the settings say. */
export class NoSite extends Data.TaggedError("NoSite")<{
  readonly fault: "site_not_chosen" | "site_not_reached"
  readonly reason: string
}> {}

/** The sites of a tracker that an access token opens. */
export const reachableSites = (apiUrl: string, accessToken: string) =>
  ask(`${apiUrl}/oauth/token/accessible-resources`, {
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/json" }
  }).pipe(
    Effect.flatMap(({ body, status }) => (status === 200 ? sitesOf(body) : Option.none())),
    Effect.catchTag("NoSuchElementException", () => Effect.fail(new ProviderAway({ what: "did not tell its sites" })))
  )

const most = 10

const named = (sites: ReadonlyArray<Site>) =>
  sites
    .slice(0, most)
    .map(({ id, url }) => `${url.slice(0, 100)} (${id.slice(0, 100)})`)
    .join(", ")
    .slice(0, 800)

/** The site that is meant: the one in the settings or, without one there, the only one there is. */
export const chooseSite = (sites: ReadonlyArray<Site>, wanted: string | undefined) => {
  const [first, ...others] = wanted === undefined ? sites : sites.filter(({ id }) => id === wanted)
  if (first === undefined) {
    const what = wanted === undefined ? "any site" : "the site in config.siteId"
    const reason = `The account does not reach ${what}${sites.length === 0 ? "" : `, but ${named(sites)}`}`
    return Effect.fail(new NoSite({ fault: "site_not_reached", reason }))
  }
  return others.length === 0
    ? Effect.succeed(first)
    : Effect.fail(
        new NoSite({
          fault: "site_not_chosen",
          reason: `The account reaches several sites: set config.siteId to one of ${named(sites)} and authorize again`
        })
      )
}
