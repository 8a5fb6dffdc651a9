import { startGoogleDrive } from "../../test/support/servers/googleDrive.ts"
import { startJira } from "../../test/support/servers/jira.ts"
import { startMailServer } from "../../test/support/servers/mailServer.ts"
import {
  clientSecret,
  oauthSettings,
  startOAuthProvider,
  trustedOrigin
} from "../../test/support/servers/oauthProvider.ts"
import { startReceiver } from "../../test/support/servers/receiver.ts"

export const driveFolder = "invoices-2026"

/** The origin of the application whose page starts authorizations. */
export const applicationOrigin = trustedOrigin

/** The secret that Jira signs its webhooks with. */
export const jiraSecret = clientSecret

/** Fakes of the external servers: the consent page, Jira, Google Drive, a webhook receiver and a mail server. */
export const startFakeServers = async () => {
  const consent = await startOAuthProvider()
  const jira = await startJira()
  const drive = await startGoogleDrive(driveFolder)
  const receiver = await startReceiver()
  // It has no certificate. The service sends without encryption only to addresses of DELIVERY_ALLOW.
  const mail = await startMailServer({ hideSTARTTLS: true })
  const isIssued = (token: string) => consent.issued.includes(token)
  jira.trust(isIssued)
  drive.trust(isIssued)
  return {
    consent,
    jira,
    drive,
    receiver,
    mail,

    /** The settings of a service at `publicUrl` that uses the fakes. */
    settingsFor: (publicUrl: string) => ({
      ...oauthSettings(consent.url),
      PUBLIC_URL: publicUrl,
      JIRA_API_URL: jira.url,
      GOOGLE_API_URL: drive.url,
      DELIVERY_ALLOW: "127.0.0.0/8"
    }),

    stop: async () => {
      for (const server of [mail, receiver, drive, jira, consent]) await server.stop()
    }
  }
}

export type FakeServers = Awaited<ReturnType<typeof startFakeServers>>
