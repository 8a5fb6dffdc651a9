import { Data, Effect, Option, Schema } from "effect"
import { maxSiteIdLength } from "../../../domain/integrations/Integration.ts"
import { ProviderUnavailable, sendOAuthRequest } from "../oauth/OAuthRequest.ts"

const SiteId = Schema.NonEmptyString.pipe(Schema.maxLength(maxSiteIdLength))
export const JiraSite = Schema.Struct({ id: SiteId, url: Schema.String, name: Schema.String })
export type JiraSite = typeof JiraSite.Type

const decodeSites = Schema.decodeUnknownOption(Schema.Array(JiraSite))

/** The accessible sites and `config.siteId` do not identify exactly one site. */
export class NoJiraSite extends Data.TaggedError("NoJiraSite")<{
  readonly errorCode: "site_not_chosen" | "site_not_reached"
  readonly reason: string
}> {}

/** Lists the Jira sites that an access token can use. */
export const listJiraSites = (apiUrl: string, accessToken: string) =>
  sendOAuthRequest({
    method: "GET",
    url: `${apiUrl}/oauth/token/accessible-resources`,
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/json" }
  }).pipe(
    Effect.flatMap(({ json, status }) => (status === 200 ? decodeSites(json) : Option.none())),
    Effect.catchTag("NoSuchElementException", () =>
      Effect.fail(new ProviderUnavailable({ message: "The provider did not list its sites" }))
    )
  )

const maxListedSites = 10

const formatSites = (sites: ReadonlyArray<JiraSite>) =>
  sites
    .slice(0, maxListedSites)
    .map(({ id, url }) => `${url.slice(0, 100)} (${id.slice(0, 100)})`)
    .join(", ")
    .slice(0, 800)

/** Selects the site with the id `wanted` or, without an id, the only accessible site. */
export const selectJiraSite = (sites: ReadonlyArray<JiraSite>, wanted: string | undefined) => {
  const [first, ...others] = wanted === undefined ? sites : sites.filter(({ id }) => id === wanted)
  if (first === undefined) {
    const what = wanted === undefined ? "any site" : "the site in config.siteId"
    const reason = `The account has no access to ${what}${sites.length === 0 ? "" : `, only to ${formatSites(sites)}`}`
    return Effect.fail(new NoJiraSite({ errorCode: "site_not_reached", reason }))
  }
  return others.length === 0
    ? Effect.succeed(first)
    : Effect.fail(
        new NoJiraSite({
          errorCode: "site_not_chosen",
          reason: `The account has access to several sites: set config.siteId to one of ${formatSites(sites)} and authorize again`
        })
      )
}
