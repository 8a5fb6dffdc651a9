import { pageSettings } from "../api/session.ts"
import { Loading } from "../ui/State.tsx"
import { signInAtProvider, signInState } from "./signIn.ts"

const DevelopmentHelp = () => (
  <>
    <p>In development a link signs you in. It works once, for ten minutes. Print one in the folder of the service:</p>
    <pre>
      <code>npm run -s console</code>
    </pre>
    <p class="muted">Your access is kept in this page only, so a reload needs another link.</p>
  </>
)

/** What somebody sees who is not signed in. */
export const SignInPage = () => {
  const { error, phase } = signInState.value
  return (
    <main class="sign-in">
      <div class="card">
        <h1>Contracting console</h1>
        {phase === "working" ? <Loading label="Signing in" /> : null}
        {error !== undefined && (
          <p class="alert bad" role="alert">
            {error}
          </p>
        )}
        {phase === "signedOut" && pageSettings.oidc !== undefined && (
          <button type="button" class="primary" onClick={() => void signInAtProvider()}>
            Sign in
          </button>
        )}
        {phase === "signedOut" && pageSettings.development && <DevelopmentHelp />}
        {phase === "signedOut" && !pageSettings.development && pageSettings.oidc === undefined && (
          <p>This service has no identity provider for the console. Its operator sets CONSOLE_OIDC_CLIENT_ID.</p>
        )}
      </div>
    </main>
  )
}
