import { render } from "preact"
import { App } from "./app/App.tsx"
import { signIn } from "./app/signIn.ts"

void signIn()
const root = document.getElementById("app")
if (root !== null) render(<App />, root)
